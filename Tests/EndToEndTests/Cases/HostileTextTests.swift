import APNSBatchTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Text from outside in all places where it is shown or written.
    @Suite(.ownThread) struct HostileText {
        /// The title of a terminal, an erased screen, the direction of text, and a forged line. A file may have this name.
        private static let text =
            "x\u{1B}]0;PWN\u{7}\u{9B}2J\u{202E}\u{7F}\r\n2026-11-26T08:00:00.000Z apns-batch: OK: forged"

        private let sender: Sender
        private let rows: String
        private let hostile: String

        init() throws {
            sender = try Sender()
            hostile = sender.scratch.path(Self.text)
            let token = String(repeating: "ab", count: 32)
            // A column with a hostile name, and fields that are formulas or hold what a terminal obeys.
            rows = try sender.scratch.write(
                """
                token,name,"n\(Self.text)"
                \(token),=cmd|' /C calc'!A0,"\(Self.text)"
                \(token.dropLast(2))cd,-5,plain
                \(token.dropLast(2))ef,+1+1,@SUM(A1)
                "=zz\(Self.text)",a,b

                """, to: Self.text + ".csv")
        }

        private var template: String {
            get throws { try sender.scratch.write(#"{"aps":{"alert":"{{name}}"}}"#, to: "t.json") }
        }

        private func expectHarmless(
            _ text: String, _ what: String, keeping kept: Set<Unicode.Scalar> = ["\n"],
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let bad = text.unicodeScalars.filter {
                !kept.contains($0) && ($0.properties.generalCategory == .control || $0.properties.isBidiControl)
            }
            #expect(bad.isEmpty, "\(what): \(text.debugDescription)", sourceLocation: sourceLocation)
            let isForged = text.split(separator: "\n").contains { $0.hasPrefix("2026-11-26T08:00:00.000Z") }
            #expect(!isForged, "\(what): \(text.debugDescription)", sourceLocation: sourceLocation)
        }

        @discardableResult
        private func run(
            _ arguments: [String], _ code: Int32, shows: String = "PWN", input: Child.Input = .nothing,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws -> Finished {
            let finished = try sender.command(arguments, input: input)
            #expect(finished.ending == .exited(code), "\(finished)", sourceLocation: sourceLocation)
            #expect((finished.output + finished.errors).contains(shows), "\(finished)", sourceLocation: sourceLocation)
            for text in [finished.output, finished.errors] {
                expectHarmless(text, arguments.joined(separator: " "), sourceLocation: sourceLocation)
            }
            return finished
        }

        private func campaign(_ lines: String, name: String = "c.yaml") throws -> String {
            try sender.scratch.write("input: rows.csv\n\(lines)\n", to: name)
        }

        /// The arguments of commands that are wrong, and show what is.
        private static let refused: [(arguments: [String], code: Int32)] = [
            (["send", "--\(text)"], 64), (["send", "--rate", text, "--to", "simulator", "--input", "x"], 64),
            ([text], 64),
            (["send", text], 64), (["resume", text], 64), (["status", text], 64), (["report", text], 64),
            (["runs", "--state-dir", text], 64),
            (["export", text, "--to", "service=x"], 64), (["notify", text], 64), (["control", text, "pause"], 64),
            (["control", ".", "rate", text], 64),
            (["check", "--input", text, "--to", text], 64), (["render", "--input", text, "--to", "simulator"], 75),
            (["send", "--to", text, "--input", "x"], 64),
            (["send", "--proxy", text, "--to", "simulator", "--input", "x"], 64),
            (["provider-token", "--key-file", text, "--key-id", "ABC123DEFG", "--team-id", "ABC123DEFG"], 64),
            (["channels", "list", "--to", text, "--bundle-id", text], 64), (["doctor", "--to", text], 64),
            (["simulate", "--script", text], 64), (["copy-campaign", text, "out"], 64),
        ]

        @Test func `arguments that are shown are escaped`() throws {
            for (arguments, code) in Self.refused {
                let finished = try sender.command(arguments)
                #expect(finished.ending == .exited(code), "\(arguments): \(finished)")
                #expect(!(finished.output + finished.errors).isEmpty, "\(arguments)")
                expectHarmless(finished.output, "\(arguments)")
                expectHarmless(finished.errors, "\(arguments)")
            }
        }

        @Test func `names, keys and values of campaign files are escaped`() throws {
            let quoted = #""x\e]0;PWN\a\x9b2J\u202e\r\n2026-11-26T08:00:00.000Z apns-batch: OK: forged""#
            for lines in [
                "\(quoted): 1", "to: \(quoted)", "rate: \(quoted)",
                "providers: [ { \(quoted): 1 } ]", "result_columns: [ \(quoted) ]\nto: simulator",
                "expect: [ \(quoted) ]", "on_complete: [ \(quoted) ]\nattempts: \(quoted)",
                "webhooks: [ { url_file: \(quoted), secret_file: x } ]", "results_to: { \(quoted): 1 }",
                "key_passphrase_env: \(quoted)\nto: production\ntopic: a.b\nkey_file: \(sender.credentials.providerKey)\nkey_id: \(quoted)\nteam_id: \(quoted)",
            ] {
                try run(
                    ["send", try campaign(lines), "--input", rows, "--template", try template, "--topic", "a.b"], 64)
            }
            try run(["send", try campaign("template: \(quoted)\nto: simulator"), "--input", rows], 64)
            // The name of the file itself, and lines for machines.
            let file = try campaign("lanes: two\nto: simulator", name: "\(Self.text).yaml")
            try run(["send", file], 64)
            try run(["send", file, "--log-format", "json"], 64)
            try run(["send", sender.scratch.path("none\(Self.text)")], 64)
        }

        @Test func `the lines that programs write are escaped`() throws {
            let shout =
                #"printf 'PWN \033[2J\233\302\233\n\342\200\256x\r2026-11-26T08:00:00.000Z apns-batch: OK: forged' >&2"#
            let script = try sender.scratch.write("\(shout); cat '\(rows)'; exit ${CODE:-0}\n", to: "make.sh")
            let file = try campaign(
                """
                input_command: [sh, "\(script)"]
                on_complete: [sh, "\(try sender.scratch.write(shout.replacing(" >&2", with: ""), to: "end.sh"))"]
                template: t.json
                to: simulator
                """)
            try String(contentsOfFile: file, encoding: .utf8).replacing("input: rows.csv\n", with: "")
                .write(toFile: file, atomically: true, encoding: .utf8)
            _ = try template
            let sent = try run(["send", file, "--run-dir", sender.newRunDirectory()], 2)
            #expect(sent.errors.contains(#"sh: PWN \u001b[2J\x9b\u009b"#), "\(sent)")
            #expect(sent.errors.contains(#"on_complete: PWN \u001b[2J\x9b\u009b"#), "\(sent)")
            try sender.scratch.write("\(shout); exit 3\n", to: "make.sh")
            try run(["send", file, "--run-dir", sender.newRunDirectory()], 75)
        }

        @Test func `a run, its files, and what is shown of it are escaped`() throws {
            let (directory, state) = (sender.scratch.path("run\(Self.text)"), sender.scratch.path("state"))
            let file = try sender.scratch.write(
                """
                name: nightly
                template: "\(try template)"
                to: simulator
                state_dir: "\(state)"
                metrics_textfile: "\(sender.scratch.path("metrics.prom"))"
                """, to: "c.yaml")
            try run(["check", file, "--input", rows, "--findings", sender.scratch.path("findings.csv")], 2)
            try run(["render", file, "--input", rows, "--rows", "0"], 2, shows: "invalid")
            try run(["render", file, "--input", rows, "--rows", "0", "--json"], 2, shows: "invalid")
            let arguments = [
                "send", file, "--input", rows, "--run-dir", directory, "--result-columns", "name",
            ]
            let sent = try run(arguments, 2)
            #expect(sent.errors.contains("invalid 1: device-token ("), "\(sent)")
            // A column with such a name cannot be given as a flag, in which a comma separates names.
            try run(
                ["send", file, "--input", rows, "--run-dir", sender.newRunDirectory(), "--result-columns", "other"], 64)
            try run(["resume", directory], 2)
            try run(["status", directory], 0)
            try run(["status", directory, "--json"], 0)
            try run(["status", directory, "--follow"], 0)
            try run(["control", directory, "pause"], 69)
            try run(["runs", "--state-dir", state], 0, shows: "nightly")
            try run(["runs", "--state-dir", state, "--json"], 0)
            try run(["report", directory], 0)
            for format in ["text", "json", "html"] {
                try run(["report", directory, "--format", format], 0)
                try run(["report", directory, directory, "--format", format], 0)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            // Lines of the input are given back as they were.
            for name in names
            where name.hasSuffix(".csv") && name != "not-sent.csv" || name.hasSuffix(".json")
                || name.hasPrefix("report.")
            {
                expectHarmless(try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8), name)
            }
            for path in [
                state + "/runs.ndjson", sender.scratch.path("metrics.prom"), sender.scratch.path("findings.csv"),
            ] {
                expectHarmless(try String(contentsOfFile: path, encoding: .utf8), path)
            }
            let lines = try String(contentsOfFile: "\(directory)/results.csv", encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 5)
            #expect(
                lines.contains { $0.hasSuffix(",'=cmd|' /C calc'!A0") } && lines.contains { $0.hasSuffix(",-5") }
                    && lines.contains { $0.hasSuffix(",'+1+1") }, "\(lines)")
            #expect(
                lines.contains { $0.hasPrefix(#"4,'=zzx\u001b]0;PWN\u0007\u009b2J\u202e\u007f\r\n2026"#) }, "\(lines)")
        }

        /// A process in the place of a run that answers the command `control`.
        private func answering(_ directory: String, _ answer: String, user: uid_t? = nil) throws -> Child {
            let script = """
                import os, socket, sys
                os.chdir(sys.argv[1])
                if os.path.exists("control"): os.remove("control")
                server = socket.socket(socket.AF_UNIX)
                server.bind("control")
                os.chmod("control", 0o777)
                if len(sys.argv) > 2: os.setresuid(*[int(sys.argv[2])] * 3)
                server.listen()
                print("ready", flush=True)
                while True:
                    client, _ = server.accept()
                    with client:
                        # A client that asks nothing is gone.
                        if client.recv(1000): client.sendall(\(answer))
                """
            let server = try Child(
                Tools.python, ["-c", script, directory] + (user.map { ["\($0)"] } ?? []), name: "answers",
                in: sender.scratch)
            try #require(eventually(seconds: 60) { server.output.contains("ready") }, "\(server.errors)")
            return server
        }

        @Test func `the answer of a control socket is escaped`() throws {
            let directory = sender.newRunDirectory()
            let input = try sender.makeRows(1)
            try run(
                ["send", "--input", input, "--template", Sender.template, "--to", "simulator", "--run-dir", directory],
                0, shows: "accepted=1")
            for (kind, code) in [("ok: ", 0), ("refused: ", 64)] as [(String, Int32)] {
                let answer =
                    #"b"\#(kind)PWN\x1b[2J\xff\xc2\x9b\xe2\x80\xae\r2026-11-26T08:00:00.000Z apns-batch: OK: forged\n""#
                let server = try answering(directory, answer)
                defer { server.stop() }
                let finished = try run(["control", directory, "pause"], code)
                #expect(
                    (finished.output + finished.errors).contains(#"PWN\u001b[2J\xff\u009b\u202e\r2026"#), "\(finished)")
            }
        }

        @Test(.enabled(if: geteuid() == 0)) func `a control socket on which another user listens is not asked`() throws
        {
            let directory = sender.newRunDirectory()
            let input = try sender.makeRows(1)
            try run(
                ["send", "--input", input, "--template", Sender.template, "--to", "simulator", "--run-dir", directory],
                0, shows: "accepted=1")
            let server = try answering(directory, #"b"ok: done\n""#, user: 65_534)
            defer { server.stop() }
            try run(
                ["control", directory, "pause"], 64,
                shows: "the process that listens there is of user 65534, and was not asked")
            // Root controls the runs of others.
            try prepare("chown", ["65534", directory], in: sender.scratch)
            try run(["control", directory, "pause"], 0, shows: "done")
        }

        /// Whether every place of the command where text leaves the process is one that makes it printable.
        @Test func `the command prints nothing past its printers`() throws {
            let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../../Sources/APNSBatchCommand")
            let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
            var found = 0
            for case let file as URL in files where file.pathExtension == "swift" {
                found += 1
                let isPrinter = ["ExitStatus.swift", "Console.swift", "Simulate.swift"].contains(file.lastPathComponent)
                let text = try String(contentsOf: file, encoding: .utf8)
                for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
                where !isPrinter {
                    let isPrint = line.contains(
                        #/(^|[^.\w])(Swift\.)?print\(|FileHandle\.standard|fputs|STDERR_FILENO[^)]*\$0/#)
                    #expect(
                        !isPrint || line.contains("func print("), "\(file.lastPathComponent):\(number + 1): \(line)")
                }
            }
            #expect(found > 50)
        }
    }
}
