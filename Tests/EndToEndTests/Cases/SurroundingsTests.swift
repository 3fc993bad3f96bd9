import Foundation
import Testing

extension EndToEnd {
    /// Tests of what a process may lack, which must not read as a success.
    @Suite struct Surroundings {
        private static func shell(_ script: String, _ environment: [String: String] = [:]) throws -> Finished {
            try Child.run(
                "/bin/sh", ["-c", script, Tools.command], name: "shell", in: try Scratch(), environment: environment,
                seconds: 60)
        }

        /// User namespaces may be forbidden.
        private static let canHideProc =
            (try? shell("unshare -rm sh -c 'mount -t tmpfs none /proc'"))?.ending == .exited(0)

        @Test(.enabled(if: canHideProc), arguments: ["--version", "send --input rows.csv --to simulator", ""])
        func `without /proc, arguments cannot be read: 71`(arguments: String) throws {
            let finished = try Self.shell(
                "unshare -rm sh -c 'mount -t tmpfs none /proc && exec \"$0\" \(arguments)' \"$0\"")
            #expect(finished.ending == .exited(71) && finished.output.isEmpty, "\(finished)")
            #expect(
                finished.errors
                    == "apns-batch: cannot read the arguments in /proc: No such file or directory; mount /proc\n",
                "\(finished)")
        }

        @Test(arguments: ["--version", "--help", "send -h", "reference", "reference --schema", "runs --state-dir ."])
        func `a closed standard output is 75, as one that cannot be written is`(arguments: String) throws {
            for output in [">&-", ">/dev/full"] {
                let finished = try Self.shell("exec \"$0\" \(arguments) \(output)")
                #expect(finished.ending == .exited(75), "\(arguments) \(output): \(finished)")
                #expect(finished.errors.contains("apns-batch: standard output"), "\(finished)")
            }
        }

        @Test func `an answer to control, and the lines of the simulator, are 75 if they cannot be written`() throws {
            let sender = try Sender()
            let simulated = try Self.shell(
                "cd '\(sender.scratch.directory.path)'; \"$0\" simulate --port 0 >&- & sleep 2; kill $!; wait $!")
            #expect(simulated.ending == .exited(75), "\(simulated)")
            #expect(simulated.errors.hasSuffix("apns-batch: standard output is closed\n"), "\(simulated)")
            #expect(simulated.errors.split(separator: "\n").count == 1, "\(simulated)")
            let directory = sender.newRunDirectory()
            let run = try Child(
                Tools.command,
                [
                    "send", "--input", try sender.makeRows(100), "--template", Sender.template, "--expiration", "1h",
                    "--to", "simulator", "--rate", "10/s", "--run-dir", directory,
                ], name: "send", in: sender.scratch)
            defer { run.stop(SIGKILL) }
            let isControlled = eventually(seconds: 60) {
                (try? sender.command(["control", directory, "pause"]))?.ending == .exited(0)
            }
            try #require(isControlled, "\(run.errors)")
            let unseen = try Self.shell("exec \"$0\" control '\(directory)' continue >&-")
            #expect(unseen.ending == .exited(75), "\(unseen)")
        }

        @Test func `a run whose summary nobody gets is 75, and is complete`() throws {
            let sender = try Sender()
            let send =
                "exec \"$0\" send --input '\(try sender.makeRows(4))' --template '\(Sender.template)' --expiration 1h --to simulator "
            let directory = sender.newRunDirectory()
            let finished = try Self.shell(send + "--run-dir '\(directory)' >&-")
            #expect(finished.ending == .exited(75), "\(finished)")
            #expect(finished.errors.contains("apns-batch: standard output is closed\n"), "\(finished)")
            #expect(try RunResults(directory).summary["exit_code"] as? Int == 0)
            // Nothing is missing where nothing was to be written.
            let quiet = try Self.shell(send + "--run-dir '\(sender.newRunDirectory())' --quiet >&-")
            #expect(quiet.ending == .exited(0), "\(quiet)")
        }

        @Test func `a TZ that names no zone is 64`() throws {
            let unknown = [
                "Mars/Phobos", "Europe/Berln", "nonsense", "/etc/hostname", ":/nowhere",
                "CET-1CEST,M3.5.0,M10.5.0/33", "CET-1CEST", "A5", "CET-25", "CET-1:60",
            ]
            for zone in unknown {
                let finished = try Self.shell("exec \"$0\" runs --state-dir .", ["TZ": zone])
                #expect(finished.ending == .exited(64), "\(finished)")
                #expect(
                    finished.errors.hasPrefix(
                        "apns-batch: TZ: expected a time zone such as Europe/Berlin, found \"\(zone)\""), "\(finished)")
            }
            for zone in [
                "", "UTC", "Europe/Berlin", ":Asia/Tokyo", ":/usr/share/zoneinfo/Asia/Tokyo", "UTC0",
                "CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "<+0545>-5:45", "EST5", "GMT+5",
            ] {
                let finished = try Self.shell("exec \"$0\" runs --state-dir .", ["TZ": zone])
                #expect(finished.ending == .exited(0), "\(zone): \(finished)")
            }
        }

        /// The rule of the first zone, and the offset of the second one, in which it is never the same date.
        @Test(arguments: [("<+14>-14", "Pacific/Kiritimati"), ("SST11", "Pacific/Pago_Pago")])
        func `the night is that of the rule in TZ`(rule: String, zone: String) throws {
            try Self.expectNight(of: zone, TZ: rule)
        }

        /// It is never the same date in both zones.
        @Test(arguments: ["Pacific/Kiritimati", "Pacific/Pago_Pago"], ["", ":", ":posix/", "/usr/share/zoneinfo/"])
        func `the night is that of the zone in TZ, in all forms of its name`(zone: String, form: String) throws {
            try Self.expectNight(of: zone, TZ: form + zone)
        }

        private static func expectNight(of zone: String, TZ variable: String) throws {
            let sender = try Sender()
            let file = try sender.scratch.write("night_starts: \"00:00\"\nrun_dir: runs/{date}\n", to: "c.yaml")
            func date() -> String {
                var calendar = Calendar(identifier: .gregorian)
                calendar.timeZone = TimeZone(identifier: zone)!
                let parts = calendar.dateComponents([.year, .month, .day], from: .now)
                return String(format: "%04d-%02d-%02d", parts.year!, parts.month!, parts.day!)
            }
            let before = date()
            let sent = try Self.shell(
                "exec \"$0\" send '\(file)' --input '\(try sender.makeRows(1))' --template '\(Sender.template)' "
                    + "--expiration 1h --to simulator", ["TZ": variable])
            #expect(sent.ending == .exited(0), "\(sent)")
            let directories = try FileManager.default.contentsOfDirectory(atPath: sender.scratch.path("runs"))
            #expect(directories.contains(before) || directories.contains(date()), "\(directories)")
        }
    }
}
