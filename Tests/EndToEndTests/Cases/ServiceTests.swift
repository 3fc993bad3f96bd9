import Foundation
import Testing

extension EndToEnd {
    /// Tests of a run as a service of systemd, and of the units in examples/systemd.
    @Suite struct Service {
        private static let units = Tools.root.appending(path: "examples/systemd")

        /// A campaign that runs in the command's own simulator.
        private struct Stage {
            let sender = try! Sender()
            let file: String

            init(rows: Int, _ more: String = "") throws {
                let input = try sender.makeRows(rows, "--plain")
                file = try sender.scratch.write(
                    """
                    input: \(input)
                    template: \(Tools.fixture("campaign/plain.json"))
                    to: simulator
                    expiration: 1h
                    run_dir: night
                    \(more)
                    """, to: "nightly.yaml")
            }

            /// Runs the campaign with these variables, and returns how it ended and what systemd was told.
            func run(
                at path: String, _ variables: [String: String] = [:], through prefix: [String] = [], _ flags: String...
            ) throws -> (finished: Finished, messages: [String]) {
                let listener = try NotifyListener(path)
                let command = prefix + [Tools.command, "run", file] + flags
                let finished = try Child.run(
                    command[0], Array(command.dropFirst()), name: "run", in: sender.scratch,
                    environment: variables.merging(["NOTIFY_SOCKET": path]) { $1 })
                return (finished, listener.stop())
            }

            /// The path of a socket. That of the scratch directory would be too long on some machines.
            static func path() -> String { "/tmp/apns-batch-\(UUID().uuidString.prefix(13))" }
        }

        @Test func `systemd is told of start, progress, life and end, and programs of the run know nothing of it`()
            throws
        {
            let stage = try Stage(
                rows: 2_000,
                """
                rate: 1000/s
                on_complete: [/bin/sh, -c, "echo \\"[$NOTIFY_SOCKET$WATCHDOG_USEC$WATCHDOG_PID]\\" >&2; sleep 1"]
                """)
            let path = Stage.path()
            defer { unlink(path) }
            let (finished, messages) = try stage.run(at: path, ["WATCHDOG_USEC": "600000"])
            #expect(
                finished.ending == .exited(0)
                    && finished.errors.split(separator: "\n").contains { $0.hasSuffix("[]") }, "\(finished)")
            #expect(messages.first?.hasPrefix("READY=1\nSTATUS=the run has begun: ") == true, "\(messages)")
            #expect(messages.filter { $0.hasPrefix("READY=1") }.count == 1)
            #expect(
                messages.contains { $0.wholeMatch(of: #/WATCHDOG=1\nSTATUS=\d+% .* rows, .*/#) != nil }, "\(messages)")
            // While the program of on_complete works.
            #expect(messages.suffix(4).contains("WATCHDOG=1"), "\(messages)")
            // The watchdog is fed until the process has ended.
            #expect(
                messages.last { $0 != "WATCHDOG=1" }?.hasPrefix("STOPPING=1\nSTATUS=OK: 2,000 of 2,000 rows accepted")
                    == true, "\(messages)")
        }

        @Test func `a run that was complete before is ready, and a watchdog of another process is not fed`() throws {
            let stage = try Stage(rows: 20)
            let path = "@" + Stage.path().dropFirst()
            let first = try stage.run(at: path, ["WATCHDOG_USEC": "30000", "WATCHDOG_PID": "1"])
            #expect(first.finished.ending == .exited(0), "\(first.finished)")
            #expect(!first.messages.contains { $0.contains("WATCHDOG") } && first.messages.count >= 2)
            let again = try stage.run(at: path)
            #expect(again.finished.ending == .exited(0) && again.finished.output.contains("already=complete"))
            #expect(again.messages.map { $0.prefix(19) } == ["READY=1\nSTATUS=OK: "], "\(again.messages)")
        }

        @Test func `a run that does not begin is never ready`() throws {
            let stage = try Stage(rows: 20)
            let path = "@" + Stage.path().dropFirst()
            let (finished, messages) = try stage.run(at: path, [:], "--expect", "rows > 20")
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(messages.map { $0.prefix(15) } == ["STATUS=FAILED: "], "\(messages)")
        }

        @Test(arguments: ["nowhere", "/nowhere/socket", "@", "vsock:2:1", String(repeating: "/a", count: 100)])
        func `a socket that cannot be used changes nothing`(path: String) throws {
            let stage = try Stage(rows: 20)
            let finished = try Child.run(
                Tools.command, ["run", stage.file], name: "run", in: stage.sender.scratch,
                environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "x"])
            #expect(finished.ending == .exited(0) && finished.errors.isEmpty, "\(finished)")
        }

        // MARK: The units

        /// Plays the installation of docs/integrate/service.md in a folder that takes the place of the root.
        @Test func `the installation by hand works as it is written, and brings what the unit names`() throws {
            let docs = try String(contentsOf: Tools.root.appending(path: "docs/integrate/service.md"), encoding: .utf8)
            let section = try #require(docs.components(separatedBy: "## Installation by hand").last)
            let commands = section.split(separator: "\n").drop { !$0.hasPrefix("    useradd") }.prefix {
                $0.hasPrefix("    ")
            }
            let scratch = try Scratch()
            let root = scratch.path("root")
            let script =
                "set -e; useradd() { mkdir -p '\(root)/var/lib/apns-batch'; }; systemctl() { :; }\n"
                + "mkdir -p '\(root)/etc/systemd/system' '\(root)/usr/bin'; cd '\(scratch.directory.path)'\n"
                + "ln -s '\(Tools.root.path)/examples' examples; mkdir -p .build/release; cp '\(Tools.command)' .build/release/\n"
                + "echo key > AuthKey.p8\n"
                + commands.joined(separator: "\n").replacing(#/ \/(?:etc|usr|var)\//#) {
                    " \(root)\($0.output.dropFirst())"
                }
            let finished = try Child.run("/bin/sh", ["-c", script], name: "install", in: scratch)
            #expect(finished.ending == .exited(0) && commands.count >= 8, "\(finished)")
            let unit = try String(contentsOf: Self.units.appending(path: "apns-batch@.service"), encoding: .utf8)
            let campaign = try String(contentsOf: Self.units.appending(path: "nightly.yaml"), encoding: .utf8)
            let named = (unit + campaign).matches(
                of: #/(?m)^[A-Za-z]\w*[=:] ?(?:[\w.]+:)?(\/(?:usr\/bin|etc)\/[^ \n]+)/#
            ).map {
                String($0.output.1).replacing("%i", with: "nightly")
            }
            #expect(named.count >= 3)
            for path in named { #expect(FileManager.default.fileExists(atPath: root + path), "\(path)") }
        }

        @Test func `the drop-in of a broadcast sends it once a night, and says that it lives`() throws {
            let dropIn = try String(contentsOf: Self.units.appending(path: "broadcast.conf"), encoding: .utf8)
            let start = try #require(
                dropIn.split(separator: "\n").last { $0.hasPrefix("ExecStart=/usr/bin/apns-batch ") })
            #expect(dropIn.contains("\nExecStart=\nExecStart=") && dropIn.contains("\nRestart=no\n"))
            let sender = try Sender()
            let channels = (0..<3).map { Data(repeating: $0, count: 16).base64EncodedString() }
            let rows = channels.map { "\($0),1\n" }.joined()
            let payload = #"{"aps":{"timestamp":1,"event":"update","content-state":{"score":"{{score}}"}}}"#
            let settings = """
                to: simulator
                topic: \(TestCredentials.topic)
                push_type: liveactivity
                expiration: 1h
                input: \(try sender.scratch.write("channel_id,score\n" + rows, to: "channels.csv"))
                template: \(try sender.scratch.write(payload, to: "score.json"))

                """
            let file = try sender.scratch.write(settings, to: "scores.yaml")
            let arguments = start.split(separator: " ").dropFirst().map {
                String($0).replacing("/etc/apns-batch/%i.yaml", with: file)
                    .replacing("%S", with: sender.scratch.path("state")).replacing("%i", with: "scores")
                    .replacing("{date}", with: "night")
            }
            let path = "@" + Stage.path().dropFirst()
            let listener = try NotifyListener(path)
            let sent = try Child.run(
                Tools.command, arguments, name: "broadcast", in: sender.scratch, environment: ["NOTIFY_SOCKET": path])
            #expect(sent.ending == .exited(0) && sent.output.contains("accepted=3"), "\(sent)")
            #expect(listener.stop().first?.hasPrefix("READY=1\n") == true)
            let again = try Child.run(Tools.command, arguments, name: "again", in: sender.scratch)
            #expect(again.ending == .exited(64) && again.errors.contains("resume it"), "\(again)")
        }

        /// The unit names no key, so that it serves campaigns with any credentials.
        @Test func `the credential of the unit is the key of a campaign that gives none`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let unit = try String(contentsOf: Self.units.appending(path: "apns-batch@.service"), encoding: .utf8)
            #expect(!unit.contains("--key-file") && unit.contains("\nSetCredential=key.p8:none\n"))
            let flags = sender.credentials.flags
            let key = try #require(flags.firstIndex(of: "--key-file"))
            let others = Array(flags[..<key] + flags[(key + 2)...])
            let directory = sender.scratch.path("credentials")
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            func send(_ more: [String]) throws -> Finished {
                try Child.run(
                    Tools.command,
                    [
                        "send", "--input", try sender.makeRows(2), "--template", Sender.template, "--expiration", "1h",
                        "--to",
                        "localhost:\(simulator.port)", "--run-dir", sender.newRunDirectory(),
                    ] + more, name: "send", in: sender.scratch, environment: ["CREDENTIALS_DIRECTORY": directory])
            }
            try sender.scratch.write("none", to: "credentials/key.p8")
            let none = try send(others)
            #expect(none.ending == .exited(64) && none.errors.contains("no credentials: give --key-file"), "\(none)")
            // Another credential of the campaign is not overridden.
            try sender.scratch.write("no key", to: "credentials/key.p8")
            #expect(try send(flags).ending == .exited(0))
            #expect(try send(others).ending == .exited(64))
            try sender.scratch.write(
                try String(contentsOfFile: flags[key + 1], encoding: .utf8), to: "credentials/key.p8")
            let sent = try send(others)
            #expect(sent.ending == .exited(0), "\(sent)")
        }

        /// The path of the credential is valid in the service only, and the campaign may have another one the next time.
        @Test func `the credential of the unit survives SIGHUP, and is no setting of the run`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let credentials = sender.scratch.path("credentials")
            try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                atPath: sender.credentials.providerKey, toPath: credentials + "/key.p8")
            let common = """
                to: localhost:\(simulator.port)
                topic: \(TestCredentials.topic)
                ca_file: \(sender.credentials.authority)
                template: \(Sender.template)
                input: \(try sender.makeRows(100))
                expiration: 1h
                run_dir: run

                """
            let ids = "key_id: \(TestCredentials.keyID)\nteam_id: \(TestCredentials.teamID)\n"
            let file = try sender.scratch.write(common + ids, to: "c.yaml")
            let run = try Child(
                Tools.command, ["run", file, "--rate", "20/s"], name: "run", in: sender.scratch,
                environment: ["CREDENTIALS_DIRECTORY": credentials])
            let results = sender.scratch.path("run/results.csv")
            let hasBegun = eventually(seconds: 60) {
                run.isOver || ((try? Data(contentsOf: URL(filePath: results)).count) ?? 0) > 200
            }
            try #require(hasBegun && !run.isOver, "\(run.errors)")
            run.send(signal: SIGHUP)
            let isTold = eventually(seconds: 60) {
                run.errors.contains("SIGHUP: ") || run.errors.contains("not reloaded")
            }
            #expect(isTold && !run.errors.contains("not reloaded"), "\(run.errors)")
            #expect(run.stop(SIGTERM) == .exited(75), "\(run.errors)")
            let token = sender.scratch.path("token")
            let made = try sender.command(
                ["provider-token", file, "--key-file", sender.credentials.providerKey, "--output", token])
            #expect(made.ending == .exited(0), "\(made)")
            try sender.scratch.write(common + "provider_token_file: \(token)\n", to: "c.yaml")
            let resumed = try sender.command(["run", file, "--rate", "none"])
            #expect(resumed.ending == .exited(0), "\(resumed)")
        }

        @Test func `systemd accepts the units, and finds few ways in`() throws {
            let scratch = try Scratch()
            for name in ["apns-batch@.service", "apns-batch@.timer", "apns-batch-boot@.service"] {
                let unit = try String(contentsOf: Self.units.appending(path: name), encoding: .utf8)
                try scratch.write(
                    unit.replacing("/usr/bin/apns-batch", with: Tools.command),
                    to: name.replacing("@", with: "@nightly"))
            }
            let (service, timer) = (
                scratch.path("apns-batch@nightly.service"), scratch.path("apns-batch@nightly.timer")
            )
            let verified = try Child.run(
                "systemd-analyze",
                ["verify", "--man=no", service, timer, scratch.path("apns-batch-boot@nightly.service")], name: "verify",
                in: scratch)
            #expect(verified.ending == .exited(0) && !verified.errors.contains("apns-batch"), "\(verified)")
            let rated = try Child.run(
                "systemd-analyze", ["security", "--offline=true", "--threshold=15", "--no-pager", service],
                name: "security", in: scratch)
            #expect(rated.ending == .exited(0), "\(rated)")
            let exposure = rated.output.firstMatch(of: #/exposure level .*: ([0-9.]+) /#)?.output.1
            #expect(exposure.flatMap { Double($0) } ?? 10 <= 1.5, "\(rated)")
        }

        /// The second value of each is a filter of a drop-in.
        @Test(arguments: Tools.loops.map { ($0, "") } + [("epoll", "~@aio")])
        func `the unit's filters of system calls leave all that a run needs`(loop: String, dropIn: String) throws {
            let stage = try Stage(rows: 500, "metrics_listen: 0\nmetrics_textfile: night.prom\nstate_dir: state")
            let path = "@" + Stage.path().dropFirst()
            let filters = [Tools.python, Tools.peer("service_filter.py"), Self.units.path + "/apns-batch@.service"]
            let through = filters + (dropIn.isEmpty ? [] : ["--also", dropIn]) + ["--"]
            // With io_uring forbidden, the run finds out by itself.
            let flags = dropIn.isEmpty ? ["--loop", loop] : ["--lanes", "2"]
            let (finished, messages) = try stage.run(at: path, [:], through: through, flags[0], flags[1])
            #expect(finished.ending == .exited(0), "\(finished)")
            #expect(finished.output.contains("loop: \(loop)"), "\(finished)")
            #expect(messages.last?.hasPrefix("STOPPING=1\nSTATUS=OK: 500 of 500 rows") == true, "\(messages)")
        }

        @Test func `the launcher forbids what systemd would`() throws {
            let scratch = try Scratch()
            let probe = """
                import mmap, os, socket
                for call in [lambda: os.setuid(0), lambda: socket.socket(16, 3, 0), lambda: mmap.mmap(-1, 4096, prot=7)]:
                    try: print(call())
                    except OSError as error: print(error.errno)
                """
            let output = try prepare(
                Tools.python,
                [
                    Tools.peer("service_filter.py"), Self.units.path + "/apns-batch@.service", "--", Tools.python, "-c",
                    probe,
                ],
                in: scratch)
            #expect(output == "1\n97\n1\n")
        }
    }
}
