import Foundation
import Testing

extension EndToEndRuns {
    /// Inputs that are read to their end before the first push, because they can be read only once.
    @Suite struct Spooling {
        private static let patient = "{ distribution: uniform, min_ms: 10, max_ms: 30 }"

        private func campaign(_ sender: Sender, command: String, port: UInt16, _ more: String = "") throws -> String {
            let program = try sender.scratch.write(command, to: "producer.sh")
            return try sender.scratch.write(
                """
                input_command: [sh, "\(program)"]
                template: "\(Sender.template)"
                to: localhost:\(port)
                \(more)
                """, to: "campaign.yaml")
        }

        @Test(arguments: ["pipe", "gzip pipe", "program", "file", "ndjson pipe"], ["report", "resend"])
        func `a run is resumed from what it has kept, after five crashes`(origin: String, policy: String) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: Script(seed: 3, rules: [], latency: Self.patient))
            let (rows, directory) = (10_000, sender.newRunDirectory())
            let input = try origin == "ndjson pipe" ? sender.makeRows(rows, "--ndjson") : sender.makeRows(rows)
            let more =
                ["--on-unknown", policy, "--connections", "1", "--rate", "2000/s", "--run-dir", directory]
                + sender.credentials.flags
            let flags = ["--template", Sender.template, "--to", "localhost:\(simulator.port)"] + more
            let send: Child
            switch origin {
            case "program":
                let file = try campaign(sender, command: "cat '\(input)'; rm '\(input)'", port: simulator.port)
                send = try Child(Tools.command, ["send", file] + more, name: "send", in: sender.scratch)
            case "file":
                send = try Child(
                    Tools.command, ["send", "--input", input, "--spool", "always"] + flags, name: "send",
                    in: sender.scratch)
            default:
                let packed = origin == "gzip pipe" ? try sender.pack(input, "gzip") : input
                send = try Child(
                    Tools.command, ["send", "--input", "-"] + flags, name: "send", in: sender.scratch,
                    input: .file(URL(filePath: packed)))
            }
            var (process, underWay) = (send, 0)
            for _ in 0..<5 {
                let before = try progress(directory, sender)["ended"] ?? 0
                let isOn = eventually(seconds: 120) {
                    process.isOver || (try? progress(directory, sender)["ended"] ?? 0) ?? 0 >= before + 100
                }
                try #require(isOn && !process.isOver, "\(process.errors)")
                process.stop(SIGKILL)
                underWay += try progress(directory, sender)["may_be_sent"] ?? 0
                // What it was is not asked again.
                try? FileManager.default.removeItem(atPath: input)
                process = try Child(Tools.command, ["resume", directory], name: "resume", in: sender.scratch)
            }
            let ending = process.wait(seconds: 300)
            #expect(ending == .exited(0) || ending == .exited(2), "\(ending): \(process.errors)")
            try RunResults(directory).expectComplete(rows: rows)
            let counts = try simulator.stop()
            let twice = counts.values.count { $0.received > 1 }
            #expect(twice <= (policy == "report" ? 0 : underWay))

            // Its rows are gone, and it can still be asked for.
            let kept = try sender.command(["resume", directory])
            #expect(kept.ending == ending && kept.output.contains("rows=\(rows) "), "\(kept)")
            let copy = try FileManager.default.attributesOfItem(atPath: directory + "/input.zst")
            #expect((copy[.size] as? Int ?? 0) < 1000 && copy[.posixPermissions] as? Int == 0o600)
        }

        private func progress(_ directory: String, _ sender: Sender) throws -> [String: Int] {
            let last = try sender.command(["status", directory]).outputLines.last ?? ""
            return Dictionary(
                last.split(separator: " ").compactMap { pair in
                    let parts = pair.split(separator: "=")
                    return parts.count == 2 ? Int(parts[1]).map { (String(parts[0]), $0) } : nil
                }, uniquingKeysWith: { $1 })
        }

        @Test func `a disk that is full while the input is kept is a disk that failed: exit code 75`() throws {
            guard getuid() == 0 else { return }
            let sender = try Sender()
            let disk = sender.scratch.path("disk")
            try prepare("mkdir", [disk], in: sender.scratch)
            // Only root may mount a file system, and many containers forbid it.
            let mounted = try Child.run(
                "mount", ["-t", "tmpfs", "-o", "size=200k", "tmpfs", disk], name: "mount", in: sender.scratch)
            guard mounted.ending == .exited(0) else { return }
            defer { _ = try? Child.run("umount", [disk], name: "umount", in: sender.scratch) }
            let input = try sender.makeRows(20_000)
            let flags = ["--template", Sender.template, "--to", "simulator", "--run-dir", disk + "/run"]
            let full = try sender.command(
                ["send", "--input", "-"] + flags, input: .file(URL(filePath: input)))
            #expect(full.ending == .exited(75), "\(full)")
            #expect(full.errors.contains("No space left on device; nothing was sent"), "\(full)")
            let always = try sender.command(["send", "--input", input, "--spool", "always"] + flags)
            #expect(always.ending == .exited(75) && always.errors.contains("No space left on device"), "\(always)")
            try prepare("mount", ["-o", "remount,size=100m", disk], in: sender.scratch)
            let again = try sender.command(
                ["send", "--input", "-"] + flags, input: .file(URL(filePath: input)))
            #expect(again.ending == .exited(0), "\(again)")
        }

        @Test func `a damaged copy is exit code 64 wherever the damage is`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: Script(seed: 3, rules: [], latency: Self.patient))
            let (rows, directory) = (20_000, sender.newRunDirectory())
            let input = try sender.makeRows(rows)
            let process = try Child(
                Tools.command,
                sender.arguments(
                    "-", to: simulator.port, runDirectory: directory,
                    ["--template", Sender.template, "--connections", "1"]),
                name: "send", in: sender.scratch, input: .file(URL(filePath: input)))
            try #require(
                eventually(seconds: 120) { (try? progress(directory, sender)["ended"] ?? 0) ?? 0 >= 500 },
                "\(process.errors)")
            process.stop(SIGKILL)
            let (copy, kept) = (URL(filePath: directory + "/input.zst"), directory + ".kept")
            let whole = try Data(contentsOf: copy)
            // A socket cannot be copied.
            try? FileManager.default.removeItem(atPath: directory + "/control")
            try FileManager.default.copyItem(atPath: directory, toPath: kept)
            /// Resumes the run with another copy, and returns whether the damage was noticed.
            func isRefused(_ content: Data, _ what: String) throws -> Bool {
                try FileManager.default.removeItem(atPath: directory)
                try FileManager.default.copyItem(atPath: kept, toPath: directory)
                try content.write(to: copy)
                let resumed = try sender.command(["resume", directory])
                // The table of frames is not needed.
                if resumed.ending == .exited(0) || resumed.ending == .exited(2) { return false }
                #expect(resumed.ending == .exited(64), "\(what): \(resumed)")
                #expect(
                    resumed.errors.contains("the copy of the input in the run directory is damaged"),
                    "\(what): \(resumed)")
                #expect(resumed.errors.contains("another run can send them"), "\(what): \(resumed)")
                return true
            }
            var refused = 0
            for place in [0, 5, 40, whole.count / 3, whole.count * 2 / 3, whole.count - 200, whole.count - 3] {
                var damaged = whole
                damaged[damaged.startIndex + place] ^= 0x10
                if try isRefused(damaged, "byte \(place) of \(whole.count)") { refused += 1 }
            }
            for length in [0, 30, whole.count / 2] {
                if try isRefused(whole.prefix(length), "\(length) of \(whole.count) bytes") { refused += 1 }
            }
            #expect(refused >= 7)
        }

        /// Programs that fail after half of their rows, and what is said of them.
        static let failing = [
            ("exit 3", "the program ended with exit code 3"), ("kill -9 $$", "the program was ended by signal 9"),
            ("sleep 1000", "the program was killed, because it did not end within 1 s"),
        ]

        @Test(arguments: failing)
        func `a program that fails at half of its rows: exit code 75, and nothing was sent`(
            end: String, says: String
        ) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(1000)
            let command = "head -n 500 '\(input)'; echo 'the server is gone' >&2; \(end)"
            let file = try campaign(sender, command: command, port: simulator.port, "input_timeout: 1s")
            let directory = sender.newRunDirectory()
            for name in ["send", "run"] {
                let failed = try sender.command([name, file, "--run-dir", directory] + sender.credentials.flags)
                #expect(failed.ending == .exited(75) && failed.errors.contains(says), "\(failed)")
                #expect(failed.errors.contains("; nothing was sent"), "\(failed)")
                #expect(failed.errors.contains("sh: the server is gone"), "\(failed)")
                #expect(!FileManager.default.fileExists(atPath: directory + "/input.zst"))
            }
            let check = try sender.command(
                ["check", file, "--findings", sender.scratch.path("findings.csv")] + sender.credentials.flags)
            #expect(check.ending == .exited(64) && check.errors.contains(says), "\(check)")
            #expect(try simulator.stop().isEmpty)

            // The next night the program works, and the directory is free.
            let again = try SimulatorProcess(sender)
            let mended = try campaign(sender, command: "cat '\(input)'", port: again.port)
            let sent = try sender.command(["run", mended, "--run-dir", directory] + sender.credentials.flags)
            #expect(sent.ending == .exited(0), "\(sent)")
            #expect(try again.stop().count == 1000)
        }

        @Test func `a program whose rows are sent while it writes them is not resumed`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(1000)
            let file = try campaign(
                sender, command: "head -n 501 '\(input)'; exit 1", port: simulator.port, "spool: never")
            let directory = sender.newRunDirectory()
            let failed = try sender.command(["send", file, "--run-dir", directory] + sender.credentials.flags)
            #expect(failed.errors.contains("the program ended with exit code 1"), "\(failed)")
            #expect(failed.ending == .exited(75), "\(failed)")
            let resumed = try sender.command(["resume", directory])
            #expect(resumed.ending == .exited(64), "\(resumed)")
            #expect(resumed.errors.contains("a campaign from standard input or a pipe"), "\(resumed)")
            #expect(try simulator.stop().count <= 500)
        }

        @Test(arguments: [SIGTERM, SIGINT])
        func `a signal while the input is read ends the command and the program, and nothing was sent`(
            signal: Int32
        ) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let mark = sender.scratch.path("is-running")
            let file = try campaign(
                sender, command: "echo token,name; echo $$ > '\(mark)'; exec sleep 1000", port: simulator.port)
            let process = try Child(
                Tools.command, ["send", file, "--run-dir", sender.newRunDirectory()] + sender.credentials.flags,
                name: "send", in: sender.scratch)
            let isRunning = eventually(seconds: 60) {
                (try? String(contentsOfFile: mark, encoding: .utf8))?.hasSuffix("\n") == true
            }
            try #require(isRunning, "\(process.errors)")
            process.send(signal: signal)
            #expect(process.wait(seconds: 60) == .exited(75), "\(process.errors)")
            #expect(process.errors.contains("stopped while the input was read; nothing was sent"), "\(process.errors)")
            let producer = try #require(
                pid_t(try String(contentsOfFile: mark, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines))
            )
            let isGone = eventually(seconds: 60) { kill(producer, 0) != 0 }
            #expect(isGone)
            #expect(try simulator.stop().isEmpty)
        }

        @Test func `rows of standard input are counted before the first push`() throws {
            let sender = try Sender()
            let input = try sender.makeRows(100)
            for command in ["send", "check"] {
                let refused = try Child.run(
                    Tools.command,
                    [
                        command, "--input", "-", "--template", Sender.template, "--to", "simulator", "--min-rows",
                        "101",
                    ]
                        + (command == "send"
                            ? ["--run-dir", sender.newRunDirectory()]
                            : ["--findings", sender.scratch.path("findings.csv")]),
                    name: command,
                    in: sender.scratch, input: .file(URL(filePath: input)))
                #expect(refused.ending == .exited(64), "\(refused)")
                #expect(refused.errors.contains("<stdin>: expected at least 101 rows, found 100"), "\(refused)")
            }
        }

        /// Writes files `part-1.csv` to `part-3.csv`, the last one packed, with rows that differ. Returns their pattern.
        private func parts(_ sender: Sender, lastHeader: String = "token,name") throws -> String {
            for number in 1...3 {
                let rows = (0..<100).map { String(repeating: "\(number)", count: 60) + "\(1000 + $0),Ada\n" }.joined()
                let header = number == 3 ? lastHeader : "token,name"
                try sender.scratch.write("\(header)\n\(rows)", to: "part-\(number).csv")
            }
            let last = sender.scratch.path("part-3.csv")
            let packed = try sender.pack(last, "gzip")
            try FileManager.default.removeItem(atPath: last)
            try FileManager.default.moveItem(atPath: packed, toPath: last)
            return sender.scratch.path("part-*.csv")
        }

        @Test(arguments: ["pattern", "list"])
        func `several files are one input, in the order of their names, which is kept and resumed`(form: String) throws
        {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let pattern = try parts(sender)
            let list = (1...3).map { "\"\(sender.scratch.path("part-\($0).csv"))\"" }.joined(separator: ", ")
            let template = try sender.scratch.write(#"{"aps":{"alert":"Hi {{name}}"}}"#, to: "name.json")
            let file = try sender.scratch.write(
                """
                input: \(form == "list" ? "[\(list)]" : "\"\(pattern)\"")
                template: "\(template)"
                to: localhost:\(simulator.port)
                """, to: "campaign.yaml")
            let directory = sender.newRunDirectory()
            let sent = try sender.command(["send", file, "--run-dir", directory] + sender.credentials.flags)
            #expect(sent.ending == .exited(0), "\(sent)")
            let results = try RunResults(directory)
            results.expectComplete(rows: 300)
            #expect(
                results.lines.map { $0.token.prefix(1) }.sorted()
                    == results.lines.sorted { $0.row < $1.row }.map { $0.token.prefix(1) })
            #expect(try simulator.stop().count == 300)
            let again = try sender.command(["resume", directory])
            #expect(again.ending == .exited(0), "\(again)")
        }

        @Test func `a run that has kept the rows of several files is resumed without them`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(
                sender,
                script: Script(seed: 3, rules: [], latency: "{ distribution: uniform, min_ms: 200, max_ms: 300 }"))
            let pattern = try parts(sender)
            let template = try sender.scratch.write(#"{"aps":{"alert":"Hi {{name}}"}}"#, to: "name.json")
            let directory = sender.newRunDirectory()
            let file = try sender.scratch.write(
                """
                input: "\(pattern)"
                spool: always
                template: "\(template)"
                to: localhost:\(simulator.port)
                run_dir: "\(directory)"
                streams: 10
                connections: 1
                on_unknown: resend
                """, to: "campaign.yaml")
            let arguments = ["run", file] + sender.credentials.flags
            let process = try Child(Tools.command, arguments, name: "run", in: sender.scratch)
            let isOn = eventually(seconds: 120) { ((try? progress(directory, sender)["ended"] ?? 0) ?? 0) > 0 }
            try #require(isOn && !process.isOver, "\(process.errors)")
            process.stop(SIGKILL)
            for number in 1...3 {
                try FileManager.default.removeItem(atPath: sender.scratch.path("part-\(number).csv"))
            }
            let resumed = try sender.command(arguments)
            #expect(resumed.ending == .exited(0), "\(resumed)")
            try RunResults(directory).expectComplete(rows: 300)
            #expect(try simulator.stop().count == 300)
        }

        @Test func `findings of several files name the file and its line, and other headers are refused`() throws {
            let sender = try Sender()
            let pattern = try parts(sender)
            try sender.scratch.write("token,name\n00aa,Ada\nzz,Bo\n", to: "part-2.csv")
            let template = try sender.scratch.write(#"{"aps":{"alert":"Hi {{name}}"}}"#, to: "name.json")
            let flags = ["--template", template, "--to", "simulator"]
            let findings = sender.scratch.path("findings.csv")
            let check = try sender.command(["check", "--input", pattern, "--findings", findings] + flags)
            #expect(check.ending == .exited(2), "\(check)")
            #expect((check.output + check.errors).contains("part-2.csv:3:1: "), "\(check)")
            _ = try parts(sender, lastHeader: "token,nom")
            for command in [["check", "--findings", findings], ["send", "--run-dir", sender.newRunDirectory()]] {
                let refused = try sender.command(command + ["--input", pattern] + flags)
                #expect(refused.ending == .exited(64), "\(refused)")
                #expect(
                    refused.errors.contains("part-3.csv: the header row is not that of the first file"), "\(refused)")
            }
            let none = try sender.command(
                ["check", "--input", sender.scratch.path("no-*.csv"), "--findings", findings] + flags)
            #expect(none.ending == .exited(75) && none.errors.contains("no file has such a name"), "\(none)")
        }
    }
}
