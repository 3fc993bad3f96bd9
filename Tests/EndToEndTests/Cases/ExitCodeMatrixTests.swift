import APNSBatchTestSupport
import Foundation
import Testing

extension EndToEndRuns {
    /// Every line of the table in docs/reference/exit-codes.md, by the real command.
    @Suite struct ExitCodeMatrix {
        /// A campaign of 200 rows with a history.
        struct Night {
            let sender: Sender
            let simulator: SimulatorProcess
            let input: String
            let template: String

            init(_ script: Script? = nil) throws {
                sender = try Sender()
                simulator = try SimulatorProcess(sender, script: script)
                input = try sender.makeRows(200, "--plain")
                template = try sender.scratch.write(#"{"aps":{"alert":"Hi {{name}}"}}"#, to: "payload.json")
                try write()
            }

            /// Writes the campaign file. A nil value leaves a setting out.
            func write(_ changes: [String: String?] = [:]) throws {
                var settings: [String: String?] = [
                    "name": "nightly", "to": "localhost:\(simulator.port)", "topic": TestCredentials.topic,
                    "key_file": sender.credentials.providerKey, "key_id": TestCredentials.keyID,
                    "team_id": TestCredentials.teamID, "ca_file": sender.credentials.authority, "template": template,
                    "input": input, "expiration": "1h", "run_dir": "runs/tonight",
                ]
                settings.merge(changes) { $1 }
                let lines = settings.sorted { $0.key < $1.key }.compactMap { key, value in value.map { "\(key): \($0)" }
                }
                try sender.scratch.write(lines.joined(separator: "\n") + "\n", to: "nightly.yaml")
            }

            var file: String { sender.scratch.path("nightly.yaml") }
            var run: String { sender.scratch.path("runs/tonight") }

            func call(_ more: String...) throws -> Int32 { try code(sender.command(["run", file] + more)) }

            func code(_ finished: Finished) throws -> Int32 {
                guard case .exited(let code) = finished.ending else {
                    throw Failure("\(finished)")
                }
                return code
            }

            func start(_ more: String...) throws -> Child {
                try Child(Tools.command, ["run", file] + more, name: "run", in: sender.scratch)
            }

            /// Starts slowly, and waits until some rows have lines.
            func slow(rate: String = "20/s", _ more: String...) throws -> Child {
                let process = try Child(
                    Tools.command, ["run", file, "--rate", rate] + more, name: "run", in: sender.scratch)
                let results = run + "/results.csv"
                let begun = eventually(seconds: 60) {
                    process.isOver || ((try? Data(contentsOf: URL(filePath: results)).count) ?? 0) > 200
                }
                try #require(begun && !process.isOver, "\(process.errors)")
                return process
            }

            func end(_ process: Child, by signal: Int32 = 0) throws -> Int32 {
                let ending = signal == 0 ? process.wait(seconds: 120) : process.stop(signal)
                guard case .exited(let code) = ending else { throw Failure("\(ending): \(process.errors)") }
                return code
            }

            /// Moves the runs that are complete to the night before.
            func nextNight() throws {
                let path = sender.scratch.path("runs/runs.ndjson")
                let text = try String(contentsOfFile: path, encoding: .utf8)
                try text.replacing(#/"(began|time|ended)":"\d{4}-/#) { "\"\($0.output.1)\":\"2020-" }
                    .write(toFile: path, atomically: true, encoding: .utf8)
                try FileManager.default.moveItem(atPath: run, toPath: run + "-before")
            }
        }

        private struct Failure: Error, CustomStringConvertible {
            let description: String
            init(_ description: String) { self.description = description }
        }

        private static let refusing = Script(seed: 1, rules: [.init(share: 1, status: 400, reason: "BadDeviceToken")])

        private static func starved(_ preparation: String) throws -> Int32 {
            let night = try Night()
            return try night.code(
                Child.run(
                    "bash", ["-c", preparation + "; exec \"$0\" run \"$1\"", Tools.command, night.file],
                    name: "starved",
                    in: night.sender.scratch, seconds: 60))
        }

        /// By the cause, as it stands in the table: returns the exit code of a call that has it.
        private static let causes: [String: @Sendable () throws -> Int32] = [
            "every row has an outcome, and every expectation holds": { try Night().call() },
            "the run of this night was complete before, with code 0": {
                let night = try Night()
                #expect(try night.call() == 0)
                return try night.call()
            },
            "an expectation does not hold": { try Night(refusing).call() },
            "the input has no rows": {
                let night = try Night()
                try "token,name\n".write(toFile: night.input, atomically: true, encoding: .utf8)
                return try night.call()
            },
            "another run of the campaign is not finished": {
                let night = try Night()
                _ = try night.end(night.slow(), by: SIGTERM)
                return try night.call("--input", try night.sender.makeRows(20, "--plain", "--seed", "other"))
            },
            "a flag is unknown, or its value is wrong": { try Night().call("--rate", "fast") },
            "a key of the campaign file is unknown": {
                let night = try Night()
                try night.write(["tempalte": "x"])
                return try night.call()
            },
            "the template is not there": { try Night().call("--template", "/nonexistent/payload.json") },
            "the template is not JSON": {
                let night = try Night()
                try night.sender.scratch.write("{", to: "payload.json")
                return try night.call()
            },
            "the signing key is damaged": {
                let night = try Night()
                return try night.call("--key-file", try night.sender.scratch.write("no key", to: "damaged.p8"))
            },
            "the key needs a passphrase": {
                let night = try Night()
                let locked = night.sender.scratch.path("locked.p8")
                let made = try Child.run(
                    "openssl",
                    [
                        "pkcs8", "-topk8", "-in", night.sender.credentials.providerKey, "-passout", "pass:x", "-out",
                        locked,
                    ],
                    name: "openssl", in: night.sender.scratch, seconds: 60)
                #expect(made.ending == .exited(0), "\(made)")
                return try night.call("--key-file", locked)
            },
            "the input is a URL": { try Night().call("--input", "s3://bucket/rows.csv") },
            "more than half of the first 1,000 rows are invalid": {
                let night = try Night()
                try "token,name\nno,Ann\n".write(toFile: night.input, atomically: true, encoding: .utf8)
                return try night.call()
            },
            "more than half of the latest rows are invalid": {
                let night = try Night()
                let rows = try String(contentsOfFile: try night.sender.makeRows(2000, "--plain"), encoding: .utf8)
                try (rows + String(repeating: "no,Ann\n", count: 20_000))
                    .write(toFile: night.input, atomically: true, encoding: .utf8)
                return try night.call()
            },
            "more rows are invalid than `expect` or `stop_at` allows": {
                let night = try Night()
                let rows = try String(contentsOfFile: night.input, encoding: .utf8)
                try (rows + "no,Ann\n").write(toFile: night.input, atomically: true, encoding: .utf8)
                #expect(try night.call("--expect", "invalid == 0") == 64)
                return try night.call("--stop-at", "invalid=0.1%")
            },
            "the input is of another format": {
                let night = try Night()
                try "PAR1\u{15}.......PAR1".write(toFile: night.input, atomically: true, encoding: .utf8)
                return try night.call()
            },
            "a row of the input may be read in two ways, by its backslashes": {
                let night = try Night()
                let row = "\(String(repeating: "0", count: 64)),\"C:\\\"\n"
                try "token,name\n\(row)".write(toFile: night.input, atomically: true, encoding: .utf8)
                return try night.call()
            },
            "the template names a column that the input does not have": {
                let night = try Night()
                try night.sender.scratch.write(#"{"aps":{"alert":"Hi {{nome}}"}}"#, to: "payload.json")
                return try night.call()
            },
            "the input has fewer rows than expected": { try Night().call("--min-rows", "201") },
            "a complete run of this night has sent another input": {
                let night = try Night()
                #expect(try night.call() == 0)
                return try night.call("--input", try night.sender.makeRows(20, "--plain", "--seed", "other"))
            },
            "the input was sent in an earlier night": {
                let night = try Night()
                #expect(try night.call() == 0)
                try night.nextNight()
                return try night.call()
            },
            "the input begins with rows that were sent": {
                let night = try Night()
                #expect(try night.call() == 0)
                try night.nextNight()
                let whole = try String(contentsOfFile: night.input, encoding: .utf8)
                try (whole + "00aa,Ada\n").write(toFile: night.input, atomically: true, encoding: .utf8)
                return try night.call()
            },
            "the rows were sent with another template this night": {
                let night = try Night()
                #expect(try night.call() == 0)
                try night.sender.scratch.write(#"{"aps":{"alert":"Bye {{name}}"}}"#, to: "payload.json")
                return try night.call()
            },
            "the directory of an unfinished run is gone": {
                let night = try Night()
                _ = try night.end(night.slow(), by: SIGTERM)
                try FileManager.default.removeItem(atPath: night.run)
                return try night.call()
            },
            "a row of a correction was sent": {
                let night = try Night()
                #expect(try night.call() == 0)
                let rows = try night.sender.scratch.write("not_sent_row,token,name\n1,00aa,Ada\n", to: "corrected.csv")
                return try night.call("--correction", night.run, "--input", rows)
            },
            "the run directory has the run of another campaign": {
                let night = try Night()
                #expect(try night.call() == 0)
                return try night.call("--name", "other")
            },
            "the run directory has files of another program": {
                let night = try Night()
                try FileManager.default.createDirectory(atPath: night.run, withIntermediateDirectories: true)
                try "mine\n".write(toFile: night.run + "/results.csv", atomically: true, encoding: .utf8)
                return try night.call()
            },
            "the input of a resumed run has changed": {
                let night = try Night()
                _ = try night.end(night.slow(), by: SIGTERM)
                let other = try night.sender.makeRows(200, "--plain", "--seed", "other")
                return try night.code(night.sender.command(["resume", night.run, "--input", other]))
            },
            "APNs refuses the key": { try Night().call("--key-id", "WRONGKEY00") },
            "APNs cannot be reached": {
                let night = try Night()
                _ = try night.simulator.stop()
                return try night.call("--connect-patience", "1")
            },
            "one reason has too large a share of the answers": {
                try Night(refusing).call(
                    "--stop-at", "BadDeviceToken=10%", "--stop-minimum", "10", "--stop-window", "50")
            },
            "too many rows of the canary fail": { try Night(refusing).call("--canary", "10") },
            "the process may open too few files": { try starved("ulimit -n 10") },
            "the process has too little address space": { try starved("ulimit -v 200000") },
            "the run was interrupted by a signal": {
                let night = try Night()
                return try night.end(night.slow(), by: SIGTERM)
            },
            "the input is not there yet": {
                let night = try Night()
                try FileManager.default.removeItem(atPath: night.input)
                return try night.call()
            },
            "the input is too old": {
                let night = try Night()
                try FileManager.default.setAttributes(
                    [.modificationDate: Date.now.addingTimeInterval(-86_400)], ofItemAtPath: night.input)
                return try night.call("--require-fresh", "20h")
            },
            "the program that makes the input fails": {
                let night = try Night()
                try night.write(["input": nil, "input_command": "[/bin/sh, -c, exit 3]"])
                return try night.call()
            },
            "the database of the input cannot be reached": {
                let night = try Night()
                try night.write(["input": nil, "input_query": "{ database: 'host=/nowhere', query: 'SELECT 1' }"])
                return try night.call()
            },
            "the address of `metrics_listen` is in use": {
                let night = try Night()
                let port = night.simulator.port
                return try night.call("--metrics-listen", "127.0.0.1:\(port)")
            },
            "another process is working on the run": {
                let night = try Night()
                let process = try night.slow()
                defer { process.stop(SIGKILL) }
                return try night.call()
            },
            "the disk is full": {
                let night = try Night()
                // A file may have so many blocks of 1,024 bytes.
                return try night.code(
                    Child.run(
                        "bash", ["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" run \"$1\"", Tools.command, night.file],
                        name: "full", in: night.sender.scratch, seconds: 60))
            },
            "the run directory was removed during the run": {
                let night = try Night()
                let process = try night.slow()
                try FileManager.default.removeItem(atPath: night.run)
                return try night.end(process)
            },
            "the summary cannot be printed": {
                let night = try Night()
                return try night.code(
                    Child.run(
                        "bash", ["-c", "exec \"$0\" run \"$1\" >/dev/full", Tools.command, night.file], name: "full",
                        in: night.sender.scratch, seconds: 60))
            },
        ]

        /// The lines of the table: code and cause.
        private static let lines: [(code: Int32, cause: String)] = {
            let page =
                (try? String(contentsOf: Tools.root.appending(path: "docs/reference/exit-codes.md"), encoding: .utf8))
                ?? ""
            return page.split(separator: "\n").compactMap { line in
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
                guard cells.count == 3, let code = Int32(cells[0]) else { return nil }
                return (code, cells[1])
            }
        }()

        @Test func `the table has the causes that are tried, and no others`() {
            #expect(Set(Self.lines.map(\.cause)) == Set(Self.causes.keys) && Self.lines.count == Self.causes.count)
        }

        @Test(arguments: lines)
        func `a cause has the exit code of its line`(code: Int32, cause: String) throws {
            let call = try #require(Self.causes[cause])
            #expect(try call() == code, "\(cause)")
        }
    }
}
