import APNSBatchTestSupport
import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of the exit codes that a scheduler sees.
    @Suite struct ExitCodes {
        static let header = "token,first_name,badge,vip,note,extras\n"

        @Test func `invalid rows: the others are sent, exit code 2, the cause is in the results`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let good = String(repeating: "ab", count: 32)
            let input = try sender.scratch.write(
                Self.header + """
                    \(good),Ada,1,true,,{}
                    \(good.replacing("ab", with: "cd")),Bo,five,true,,{}
                    not-hex,Cy,1,true,,{}
                    \(good.replacing("ab", with: "ef")),Di,1,true
                    \(good.replacing("ab", with: "01")),Ed,1,true,,{
                    \(good.replacing("ab", with: "23")),Flo,1,true,,{}

                    """, to: "rows.csv")
            let (finished, results) = try sender.send(
                input, to: simulator.port, ["--template", Sender.template, "--stop-at", "invalid=never"], expecting: 2)
            results.expectComplete(rows: 6)
            #expect(
                results.lines.map(\.outcome) == ["accepted", "invalid", "invalid", "invalid", "invalid", "accepted"])
            #expect(results.lines.filter { $0.outcome == "invalid" }.allSatisfy { $0.attempts == 0 && $0.status == "" })
            #expect(results.lines[1].reason.contains("badge: expected a number"), "\(results.lines[1])")
            #expect(finished.outputLines.last?.contains(" invalid=4 ") == true)
            #expect(finished.errors.contains("invalid 1: column-value-type (\(input):3:"), "\(finished)")
            let rules = try #require(results.summary["invalid_rules"] as? [String: [String: Any]])
            #expect(rules.values.reduce(0) { $0 + ($1["rows"] as? Int ?? 0) } == 4)
            #expect(try simulator.stop().count == 2)
        }

        @Test func `a FIFO or a device as the template is refused, for it may never end`() throws {
            let sender = try Sender()
            let input = try sender.makeRows(10)
            let fifo = sender.newRunDirectory()
            try #require(mkfifo(fifo, 0o600) == 0)
            for (path, kind) in [(fifo, "a FIFO"), ("/dev/zero", "a device")] {
                let finished = try sender.command(["render", "--input", input, "--template", path, "--rows", "1"])
                #expect(finished.ending == .exited(64), "\(finished)")
                #expect(finished.errors.contains("cannot read \(path): it is \(kind), not a file"), "\(finished)")
            }
        }

        @Test(arguments: [(share: 0.5, code: Int32(0)), (share: 1, code: 2)])
        func `rejected rows are final answers: exit code 0, but 2 when no row was accepted`(
            share: Double, code: Int32
        ) throws {
            let sender = try Sender()
            let script = Script(seed: 1, rules: [.init(share: share, status: 410, reason: "Unregistered")])
            let simulator = try SimulatorProcess(sender, script: script)
            let input = try sender.makeRows(50)
            let (_, results) = try sender.send(
                input, to: simulator.port, ["--template", Sender.template], expecting: code)
            results.expectComplete(rows: 50)
            let rejected = results.count("rejected")
            #expect(code == 2 ? rejected == 50 : rejected > 0 && rejected < 50)
            #expect(results.summary["reasons"] as? [String: Int] == ["Unregistered": rejected])
        }

        @Test func `rows that APNs put off to the last attempt: exit code 2, and resume sends them when told to`()
            throws
        {
            let sender = try Sender()
            let script = Script(
                seed: 1, rules: [.init(share: 0.3, status: 503, reason: "ServiceUnavailable", times: 2)])
            let simulator = try SimulatorProcess(sender, script: script)
            let input = try sender.makeRows(50)
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                input, to: simulator.port, runDirectory: directory,
                ["--template", Sender.template, "--attempts", "2", "--retry-delay", "1"])
            #expect(process.wait(seconds: 120) == .exited(2), "\(process.errors)")
            let first = try RunResults(directory)
            first.expectComplete(rows: 50)
            let unavailable = first.count("unavailable")
            #expect(unavailable > 0 && unavailable < 50)
            #expect(first.lines.allSatisfy { $0.outcome != "unavailable" || $0.status == "503" && $0.attempts == 2 })
            #expect(process.output.contains("unavailable \(unavailable): ServiceUnavailable\n"))
            #expect(process.output.contains(" unavailable=\(unavailable) "))

            let asBefore = try sender.command(["resume", directory])
            #expect(asBefore.ending == .exited(2), "\(asBefore)")
            #expect(try RunResults(directory).lines == first.lines)

            let again = try sender.command(["resume", directory, "--retry-unavailable"])
            #expect(again.ending == .exited(0), "\(again)")
            let last = try RunResults(directory)
            last.expectComplete(rows: 50)
            #expect(last.count("accepted") == 50 && last.count("unavailable") == 0)
            #expect(try simulator.stop().values.allSatisfy { $0.accepted == 1 })
        }

        @Test func `a header row alone: a warning, exit code 2`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.scratch.write(Self.header, to: "rows.csv")
            let (finished, results) = try sender.send(
                input, to: simulator.port, ["--template", Sender.template], expecting: 2)
            #expect(results.lines.isEmpty)
            #expect(finished.outputLines.last?.hasPrefix("rows=0 accepted=0 ") == true)
            #expect(finished.errors.contains("apns-batch: warning: the input has no rows\n"), "\(finished)")
            let check = try sender.command(
                [
                    "check", "--input", input, "--template", Sender.template, "--topic", "com.example.app",
                    "--findings", sender.scratch.path("findings.csv"),
                ])
            #expect(check.ending == .exited(2) && check.errors.contains("warning: the input has no rows\n"), "\(check)")
        }

        /// Arguments with an error that is detected before anything is sent. The exit code is 64, and a line names the
        /// error.
        static let wrong: [(arguments: [String], says: String)] = [
            (["--input", "ROWS", "--to", "localhost:1", "--no-such-flag"], "--no-such-flag"),
            (
                ["--input", "ROWS", "--to", "simulator", "--template", "GOOD", "--min-rows", "2"],
                "rows.csv: expected at least 2 rows, found 1; nothing was sent"
            ),
            (
                [
                    "--input", "-", "--spool", "never", "--to", "simulator", "--template", "GOOD", "--min-rows", "2",
                ],
                "min-rows: <stdin> is not a file"
            ),
            (
                ["--input", "ROWS", "--to", "simulator", "--template", "GOOD", "--not-after", "2020-01-01T00:00:00Z"],
                "not-after: expected a time in the future, found 2020-01-01T00:00:00Z"
            ),
            (["CAMPAIGN", "--input", "ROWS", "--to", "simulator"], "tempalte"),
        ]

        @Test(arguments: wrong)
        func `wrong usage: exit code 64, nothing sent`(arguments: [String], says: String) throws {
            let scratch = try Scratch()
            let files = [
                "GOOD": Sender.template,
                "ROWS": try scratch.write(Self.header + "00aa,Ada,1,true,,{}\n", to: "rows.csv"),
                "CAMPAIGN": try scratch.write("tempalte: t.json\n", to: "campaign.yaml"),
            ]
            let finished = try Child.run(
                Tools.command, ["send"] + arguments.map { files[$0] ?? $0 } + ["--run-dir", scratch.path("run")],
                name: "send", in: scratch, seconds: 30)
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains(says), "\(finished)")
        }

        @Test func `what may pass by itself: exit code 75, nothing sent`() throws {
            let scratch = try Scratch()
            let rows = try scratch.write(Self.header + "00aa,Ada,1,true,,{}\n", to: "rows.csv")
            let simulator = ["--to", "simulator", "--template", Sender.template]
            let cases: [(arguments: [String], campaign: String, says: String)] = [
                (["--input", "/nonexistent/rows.csv"] + simulator, "", "/nonexistent/rows.csv"),
                (simulator, "input: [\(rows), /nonexistent/rows.csv]", "/nonexistent/rows.csv"),
                (simulator, "input: \(scratch.path("none-*.csv"))", "no file has such a name"),
                (simulator, "input_command: [/bin/sh, -c, exit 3]", "ended with exit code 3"),
                (simulator, "input_command: [/bin/sh, -c, kill -9 $$]", "ended by signal 9"),
            ]
            for (number, it) in cases.enumerated() {
                let campaign = try scratch.write("name: passing\n\(it.campaign)\n", to: "campaign-\(number).yaml")
                let finished = try Child.run(
                    Tools.command, ["send", campaign] + it.arguments + ["--run-dir", scratch.path("run-\(number)")],
                    name: "send", in: scratch, seconds: 30)
                #expect(finished.ending == .exited(75), "\(finished)")
                #expect(finished.errors.contains(it.says), "\(finished)")
            }
        }

        @Test func `tokens of several rows, of another size, and columns without use: warnings, and all is sent`()
            throws
        {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let token = String(repeating: "ab", count: 32)
            let input = try sender.scratch.write(
                "token,colapse_id\n\(token),a\n\(token.uppercased()),a\n00ff,a\n", to: "rows.csv")
            let template = try sender.scratch.write(#"{"aps":{"alert":"Hi"}}"#, to: "hi.json")
            let (finished, results) = try sender.send(
                input, to: simulator.port, ["--template", template, "--expiration", "1h"])
            results.expectComplete(rows: 3)
            #expect(
                finished.errors == """
                    apns-batch: warning: \(input):1:1: column "colapse_id": nothing uses it; did you mean "collapse_id"?
                    apns-batch: warning: a row has the token of another row: rows 1 and 2 [duplicate-token]
                    apns-batch: warning: a token has a size other than 32 bytes: row 3 [token-size]

                    """, "\(finished)")
            let duplicates = results.lastSession["duplicate_tokens"] as? [String: Any]
            #expect(duplicates?["rows"] as? Int == 1 && duplicates?["examples"] as? [[Int]] == [[1, 2]])
        }

        @Test func `a fatal answer stops the campaign: exit code 69`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            // The simulator does not know this key.
            let other = sender.scratch.path("other.p8")
            try prepare(
                "openssl", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", other],
                in: sender.scratch)
            let input = try sender.makeRows(2_000)
            let (finished, results) = try sender.send(
                input, to: simulator.port, ["--template", Sender.template, "--key-file", other], expecting: 69)
            #expect(finished.errors.contains("InvalidProviderToken"), "\(finished)")
            #expect(results.lines.count < 2_000)
            results.expectSummaryAgrees()
            #expect(try simulator.stop().values.allSatisfy { $0.accepted == 0 })
        }

        @Test func `nobody listens: exit code 69 within the patience given`() throws {
            let sender = try Sender()
            let port = ReservedPort()
            let input = try sender.makeRows(10)
            let (finished, results) = try sender.send(
                input, to: port.number, ["--template", Sender.template, "--connect-patience", "1"], expecting: 69)
            #expect(results.count("accepted") == 0)
            let lines = finished.errors.split(separator: "\n")
            let said = lines.filter { $0.contains("Connection refused); trying for 1 s more") }
            #expect(said.count == 1 && said[0].contains("warning"), "\(finished)")
        }

        @Test func `a certificate that nobody vouches for: exit code 69, nothing sent`() throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender)
            let elsewhere = try Scratch()
            let stranger = try TestCredentials(in: elsewhere, isOther: true)
            let input = try sender.makeRows(10)
            let (_, results) = try sender.send(
                input, to: server.port,
                [
                    "--template", Sender.template, "--ca-file", stranger.authority, "--connect-patience",
                    "1",
                ], expecting: 69)
            server.stop()
            #expect(results.count("accepted") == 0)
            #expect(recording.requests.isEmpty)
        }

        @Test func `a certificate of another host: exit code 69, nothing sent`() throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender)
            let input = try sender.makeRows(10)
            let finished = try sender.command(
                ["send", "--input", input, "--to", "127.0.0.2:\(server.port)", "--run-dir", sender.newRunDirectory()]
                    + sender.credentials.flags + ["--template", Sender.template, "--connect-patience", "1"])
            #expect(finished.ending == .exited(69), "\(finished)")
            server.stop()
            #expect(recording.requests.isEmpty)
        }
    }
}
