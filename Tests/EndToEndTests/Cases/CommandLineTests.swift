import Foundation
import Testing

extension EndToEnd {
    /// Tests of the messages of the command about its arguments and files, and of its display of progress.
    @Suite struct CommandLine {
        private static func check(_ yaml: String) throws -> (sender: Sender, finished: Finished) {
            let sender = try Sender()
            let rows = try sender.makeRows(2)
            let file = try sender.scratch.write(yaml, to: "campaign.yaml")
            let finished = try sender.command([
                "send", file, "--input", rows, "--template", Sender.template, "--to", "simulator", "--run-dir",
                sender.newRunDirectory(),
            ])
            return (sender, finished)
        }

        @Test(arguments: [
            ("topic: a.b\nattempts: 0\n", ":2:11: attempts: expected 1 to 1000, found 0"),
            ("run_dir: x\nkey_fil: a.p8\n", ":2:1: unknown key \"key_fil\"; did you mean key_file?"),
        ])
        func `errors of a campaign file have line, column and key`(yaml: String, message: String) throws {
            let (sender, finished) = try Self.check(yaml)
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains("\(sender.scratch.path("campaign.yaml"))\(message)"), "\(finished)")
            #expect(finished.errors.split(separator: "\n").count == 1, "\(finished)")
        }

        @Test func `a flag that wins is named as a flag`() throws {
            let sender = try Sender()
            let file = try sender.scratch.write("attempts: 3\n", to: "campaign.yaml")
            let finished = try sender.command([
                "send", file, "--input", try sender.makeRows(2), "--template", Sender.template, "--to", "simulator",
                "--attempts", "0",
            ])
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains("--attempts: expected 1 to 1000, found 0\n"), "\(finished)")
        }

        @Test func `what the parser does not understand reads like every other error`() throws {
            let sender = try Sender()
            let finished = try sender.command(["send", "--inptu", "rows.csv"])
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(
                finished.errors.hasPrefix("apns-batch: unknown option '--inptu'")
                    && finished.errors.hasSuffix("apns-batch: see apns-batch send --help\n"), "\(finished)")
        }

        @Test func `credentials that cannot be meant are said with their file`() throws {
            let sender = try Sender()
            let rows = try sender.makeRows(2)
            func send(_ more: [String]) throws -> Finished {
                try sender.command(
                    [
                        "send", "--input", rows, "--template", Sender.template, "--topic", "com.example.app", "--to",
                        "localhost:1", "--connect-patience", "1", "--run-dir", sender.newRunDirectory(),
                    ] + more)
            }
            let key = ["--key-file", sender.credentials.providerKey, "--key-id", "abc", "--team-id", "DEF123GHIJ"]
            let short = try send(key)
            #expect(
                short.errors.contains(
                    "apns-batch: warning: key id: expected 10 capital letters and digits, found \"abc\"\n"), "\(short)")
            let both = try send(key + ["--certificate-file", sender.credentials.certificate])
            #expect(both.ending == .exited(64), "\(both)")
            #expect(both.errors.contains("there are --key-file and --certificate-file"), "\(both)")
            let wrong = try send(["--key-file", rows, "--key-id", "ABC123DEFG", "--team-id", "DEF123GHIJ"])
            #expect(wrong.ending == .exited(64), "\(wrong)")
            #expect(wrong.errors.contains("apns-batch: \(rows): signing key: "), "\(wrong)")
        }

        @Test func `a flag puts the file's other kind of credentials out of force`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let file = try sender.scratch.write(
                "certificate_file: nowhere.pem\nto: localhost:\(simulator.port)\n", to: "campaign.yaml")
            let finished = try sender.command(
                [
                    "send", file, "--input", try sender.makeRows(2), "--template", Sender.template, "--run-dir",
                    sender.newRunDirectory(),
                ] + sender.credentials.flags)
            #expect(finished.ending == .exited(0), "\(finished)")
        }

        @Test func `render and check need no destination`() throws {
            let sender = try Sender()
            let common = [
                "--input", try sender.makeRows(2), "--template", Sender.template, "--topic", "com.example.app",
            ]
            let rendered = try sender.command(["render"] + common)
            #expect(rendered.ending == .exited(0) && rendered.output.contains("api.push.apple.com"), "\(rendered)")
            let checked = try sender.command(["check", "--findings", sender.scratch.path("findings.csv")] + common)
            #expect(checked.ending == .exited(0), "\(checked)")
        }

        @Test func `a name that does not resolve leaves a run, or says that no run was started`() throws {
            let sender = try Sender()
            let directory = sender.newRunDirectory()
            let sent = try sender.command(
                [
                    "send", "--input", try sender.makeRows(2), "--template", Sender.template, "--connect-patience", "1",
                    "--run-dir", directory, "--to", "no-such.invalid:443",
                ] + sender.credentials.flags)
            #expect(sent.ending == .exited(69), "\(sent)")
            let isBegun = try sender.command(["status", directory]).ending == .exited(2)
            #expect(isBegun || sent.errors.contains("no run was started: start it again"), "\(sent)")
        }

        // MARK: Standard error

        private static var time: Regex<Substring> { #/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/# }

        @Test func `lines have the time, and are JSON where that is wanted`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let rows = try sender.makeRows(5)
            func lines(_ more: [String]) throws -> [Substring] {
                let process = try sender.start(
                    rows, to: simulator.port, runDirectory: sender.newRunDirectory(),
                    ["--template", Sender.template, "--key-id", "short", "-v"] + more)
                _ = process.wait(seconds: 60)
                return process.errorsWithTimes.split(separator: "\n")
            }
            let text = try lines([])
            #expect(text.count > 2 && text.allSatisfy { $0.prefixMatch(of: Self.time) != nil }, "\(text)")
            #expect(text.contains { $0.contains("Z apns-batch: warning: key id: expected 10") }, "\(text)")
            #expect(text.contains { $0.contains("Z apns-batch: info: ") }, "\(text)")
            let objects = try lines(["--log-format", "json"]).map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String], "\($0)")
            }
            #expect(objects.count > 2)
            for object in objects {
                #expect(Set(object.keys) == ["level", "message", "time"], "\(object)")
                #expect(object["time"]?.wholeMatch(of: Self.time) != nil, "\(object)")
            }
            #expect(
                objects.contains {
                    $0["level"] == "warning" && $0["message"]?.hasPrefix("key id: expected 10") == true
                }, "\(objects)")
        }

        @Test func `the line that says why a run ended is an error`() throws {
            let sender = try Sender()
            let finished = try sender.command(
                [
                    "send", "--input", try sender.makeRows(2), "--template", Sender.template, "--connect-patience", "1",
                    "--run-dir", sender.newRunDirectory(), "--to", "127.0.0.1:1", "--log-format", "json",
                ] + sender.credentials.flags)
            #expect(finished.ending == .exited(69), "\(finished)")
            let lines = finished.errors.split(separator: "\n")
            let cause = lines.filter { $0.contains("no connection for") }
            #expect(cause.count == 1 && cause[0].contains(#""level":"error""#), "\(finished)")
        }

        @Test(arguments: ["status", "resume"])
        func `an empty name of a run directory is no directory`(command: String) throws {
            let finished = try Sender().command([command, ""])
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains("run directory: expected a path, found an empty text"), "\(finished)")
        }

        /// Returns what a terminal receives during a run of some seconds that is paused and continued.
        private static func onTerminal(columns: Int, kind: String) throws -> String {
            let sender = try Sender()
            let script = Script(
                seed: 1, rules: [.init(share: 0.5, status: 410, reason: "Unregistered")],
                latency: "{ distribution: fixed, median_ms: 30 }")
            let path = try sender.scratch.write("answers_per_second: 2000\n" + script.yaml, to: "script.yaml")
            let finished = try Child.run(
                Tools.python,
                [
                    Tools.peer("on_terminal.py"), String(columns), Tools.command, "send", "--input",
                    try sender.makeRows(4000), "--template", Sender.template, "--to", "simulator",
                    "--simulator-script", path, "--run-dir", sender.newRunDirectory(),
                ], name: "terminal", in: sender.scratch, environment: ["TERM": kind])
            #expect(finished.ending == .exited(0), "\(finished)")
            return finished.output
        }

        @Test(arguments: [80, 50])
        func `on a terminal the bar fits, and messages have lines of their own`(columns: Int) throws {
            let shown = try Self.onTerminal(columns: columns, kind: "xterm")
            let pieces = shown.components(separatedBy: "\r\u{1B}[K").flatMap { $0.components(separatedBy: "\r\n") }
            let bars = pieces.filter { $0.contains("%") }
            #expect(bars.count > 3 && bars.allSatisfy { $0.count < columns }, "\(bars)")
            #expect(bars.contains { $0.contains("█") || $0.contains("░") }, "\(bars)")
            #expect(bars.allSatisfy { $0.hasSuffix("rejected") || !$0.contains("reject") }, "\(bars)")
            let paused = bars.filter { $0.contains("paused") }
            #expect(!paused.isEmpty && paused.allSatisfy { !$0.contains("left") }, "\(paused)")
            let messages = pieces.filter { $0.contains("SIGUSR1") }
            #expect(messages.count == 2 && messages.allSatisfy { $0.hasPrefix("apns-batch: SIGUSR1: ") }, "\(messages)")
        }

        @Test func `80 columns have room for why nothing is sent`() throws {
            let sender = try Sender()
            let finished = try Child.run(
                Tools.python,
                [
                    Tools.peer("on_terminal.py"), "80", Tools.command, "send", "--input", try sender.makeRows(2),
                    "--template", Sender.template, "--connect-patience", "3", "--to", "127.0.0.1:1",
                    "--run-dir", sender.newRunDirectory(),
                ] + sender.credentials.flags, name: "terminal", in: sender.scratch, environment: ["TERM": "xterm"])
            #expect(finished.ending == .exited(69), "\(finished)")
            let bars = finished.output.components(separatedBy: "\r\u{1B}[K").filter { $0.hasPrefix("  0%") }
            #expect(bars.contains { $0.contains("Connection refused; ") && $0.count < 80 }, "\(bars)")
        }

        @Test func `a terminal that understands no escapes gets none`() throws {
            let shown = try Self.onTerminal(columns: 80, kind: "dumb")
            #expect(!shown.contains("\u{1B}") && !shown.contains("█"), "\(shown)")
        }
    }
}
