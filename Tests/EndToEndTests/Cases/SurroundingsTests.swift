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
            for zone in ["Mars/Phobos", "Europe/Berln", "nonsense"] {
                let finished = try Self.shell("exec \"$0\" runs --state-dir .", ["TZ": zone])
                #expect(finished.ending == .exited(64), "\(finished)")
                #expect(
                    finished.errors.hasPrefix(
                        "apns-batch: TZ: expected a time zone such as Europe/Berlin, found \"\(zone)\""), "\(finished)")
            }
            for zone in ["", "UTC", "Europe/Berlin", ":Asia/Tokyo", ":/etc/hostname"] {
                let finished = try Self.shell("exec \"$0\" runs --state-dir .", ["TZ": zone])
                #expect(finished.ending == .exited(0), "\(zone): \(finished)")
            }
        }
    }
}
