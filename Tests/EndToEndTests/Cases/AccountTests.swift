import Foundation
import Testing

extension EndToEnd {
    /// Tests that the last line, summary.json and `status` agree, no matter how a run ended.
    @Suite struct Accounts {
        /// Returns the numbers of a line of `key=value` pairs.
        private func numbers(_ line: Substring?) -> [String: Double] {
            let pairs = (line ?? "").split(separator: " ").compactMap { pair -> (String, Double)? in
                let parts = pair.split(separator: "=")
                return parts.count == 2 ? Double(parts[1]).map { (String(parts[0]), $0) } : nil
            }
            return Dictionary(uniqueKeysWithValues: pairs)
        }

        private func last(_ text: String) -> Substring? { text.split(separator: "\n").last }

        /// A script of a server whose first connection never answers, and whose other connections do.
        private static let mute = Script(
            seed: 1, rules: [], faults: ["{ when: { connection: 1, after: 1 }, stall: { side: writing } }"])

        /// Starts a run whose requests are in flight and get no answer.
        private func waiting(
            _ sender: Sender, _ simulator: SimulatorProcess, _ input: String, _ directory: String, _ more: [String] = []
        ) throws -> Child {
            let process = try sender.start(
                input, to: simulator.port, runDirectory: directory,
                ["--template", Tools.fixture("campaign/plain.json"), "--connections", "1", "--lanes", "1"] + more)
            let underWay = eventually(seconds: 60) {
                let output = (try? sender.command(["status", directory]).output) ?? ""
                // Notes are up to 256 rows ahead of what was sent.
                return process.isOver || numbers(last(output))["may_be_sent"] ?? 0 > 256
            }
            try #require(underWay && !process.isOver, "\(process.errors)")
            return process
        }

        @Test func `a second signal leaves rows open, the account has all of them, and resume sends them`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: Self.mute)
            let rows = 30_000
            let input = try sender.makeRows(rows, "--plain")
            let directory = sender.newRunDirectory()
            let process = try waiting(sender, simulator, input, directory)
            process.send(signal: SIGINT)
            let isFirstSeen = eventually(seconds: 30) { process.errors.contains("taking no more rows") }
            try #require(isFirstSeen)
            // A signal that follows at once counts as the same one. After a second, it counts as the second one.
            process.send(signal: SIGINT)
            let isEnded = eventually(seconds: 60) {
                process.send(signal: SIGINT)
                return process.isOver || process.errors.contains("stopped waiting")
            }
            try #require(isEnded)
            #expect(process.wait(seconds: 60) == .exited(75), "\(process.errors)")

            let line = numbers(last(process.output))
            #expect(line["unknown"] == 0)
            #expect((line["may_be_sent"] ?? 0) > 0)
            #expect(line["left"] == (line["may_be_sent"] ?? 0) + (line["not_sent"] ?? 0) + (line["not_read"] ?? 0))
            #expect(process.errors.contains("apns-batch resume \(directory)\n"), "\(process.errors)")
            let status = try sender.command(["status", directory])
            let told = numbers(last(status.output))
            #expect(told["rows"] == Double(rows), "\(status)")
            #expect(told["rows_read"] == (told["ended"] ?? 0) + (told["may_be_sent"] ?? 0) + (told["not_sent"] ?? 0))
            #expect(told["may_be_sent"] == line["may_be_sent"])

            let resumed = try sender.command(["resume", directory])
            #expect(resumed.ending == .exited(0), "\(resumed)")
            let results = try RunResults(directory)
            results.expectComplete(rows: rows)
            #expect(results.count("accepted") == rows && results.number("left") == 0)
            // The rows that were in flight were sent again, and are counted as resent.
            let resent = try #require(results.number("resent"))
            #expect(resent > 0 && resent == results.lines.count { $0.attempts >= 2 })
            #expect(results.number("sessions") == 2)
            #expect(numbers(resumed.outputLines.last)["resent"] == Double(resent))
        }

        @Test func `an interrupted run accounts for the whole input, and says what to type next`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(
                sender, script: Script(seed: 1, rules: [], latency: "{ distribution: uniform, min_ms: 20, max_ms: 20 }")
            )
            let rows = 100_000
            let input = try sender.makeRows(rows, "--plain")
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                input, to: simulator.port, runDirectory: directory,
                ["--template", Tools.fixture("campaign/plain.json"), "--connections", "1", "--lanes", "1"])
            let begun = eventually(seconds: 60) {
                (try? sender.command(["status", directory]).output.contains("ended=")) == true
            }
            try #require(begun)
            #expect(process.stop(SIGTERM) == .exited(75), "\(process.errors)")
            let line = numbers(last(process.output))
            #expect(line["rows"].map { $0 + (line["left"] ?? 0) } == Double(rows), "\(process.output)")
            let results = try RunResults(directory)
            results.expectSummaryAgrees()
            #expect(results.number("left") == rows - results.lines.count)
            #expect(results.number("exit_code") == 75 && results.summary["left_is_estimated"] as? Bool == false)
            #expect(process.errors.contains(" rows are left: apns-batch resume \(directory)\n"), "\(process.errors)")
            #expect(numbers(try last(sender.command(["status", directory]).output))["rows"] == Double(rows))
        }

        @Test func `the account of a run that was killed is that of all sessions, and of the last one apart`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(
                sender,
                script: Script(
                    seed: 3, rules: [.init(share: 0.05, status: 429, reason: "TooManyRequests", times: 1)],
                    latency: "{ distribution: uniform, min_ms: 20, max_ms: 20 }"))
            let rows = 60_000
            let made = try String(contentsOfFile: sender.makeRows(rows, "--plain"), encoding: .utf8)
            let header = made.prefix { $0 != "\n" }
            let bad = (0..<5).map { "no-\($0)," + header.filter { $0 == "," }.dropFirst() + "\n" }.joined()
            let text = header + "\n" + bad + made.dropFirst(header.count + 1)
            let input = try sender.scratch.write(String(text), to: "some-bad.csv")
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                input, to: simulator.port, runDirectory: directory,
                [
                    "--template", Tools.fixture("campaign/plain.json"), "--connections", "1", "--lanes", "1",
                    "--sync-interval", "10",
                ])
            let underWay = eventually(seconds: 60) {
                let output = (try? sender.command(["status", directory]).output) ?? ""
                return process.isOver || numbers(last(output))["ended"] ?? 0 > 500
            }
            try #require(underWay && !process.isOver, "\(process.errors)")
            process.stop(SIGKILL)
            let resumed = try sender.command(["resume", directory])
            #expect(resumed.ending == .exited(2), "\(resumed)")

            let results = try RunResults(directory)
            results.expectComplete(rows: rows + 5)
            let (all, one) = (results.allSessions, results.lastSession)
            func number(_ work: [String: Any], _ key: String) -> Double { (work[key] as? NSNumber)?.doubleValue ?? -1 }
            #expect(number(all, "rows") == Double(rows + 5) && number(one, "rows") <= Double(rows + 5 - 500))
            #expect(number(one, "rows") > 0 && number(all, "accepted") == Double(rows))
            for key in ["requests", "elapsed_seconds", "connections_opened"] {
                #expect(number(all, key) > number(one, key) && number(one, key) > 0, "\(key)")
            }
            func of(_ work: [String: Any], _ key: String) -> [String: Double] { work[key] as? [String: Double] ?? [:] }
            let retries = ["429 TooManyRequests": 0.0]
            #expect(Set(of(all, "retries").keys) == Set(retries.keys), "\(all)")
            // It depends on timing how much of this the killed process recorded.
            #expect(of(all, "retries").values.reduce(0, +) >= of(one, "retries").values.reduce(0, +))
            #expect(of(all, "answer_ms")["samples"] ?? -1 >= of(one, "answer_ms")["samples"] ?? 0)
            #expect(of(all, "answer_ms")["max"] ?? 0 >= of(one, "answer_ms")["p50"] ?? .infinity)
            #expect(all["process"] == nil && results.process["loop"] != nil)
            // The killed process wrote no summary, so that its invalid rows are only in the ledger.
            let rules = results.summary["invalid_rules"] as? [String: [String: Any]]
            #expect(rules?.keys.sorted() == ["device-token"] && rules?["device-token"]?["rows"] as? Int == 5)
            #expect(
                rules?["device-token"]?["places"] as? [String] == ["\(input):2:1", "\(input):3:1", "\(input):4:1"])
            let campaign = results.summary["campaign"] as? [String: Any]
            #expect(campaign?["input_crc32c"] as? String == Self.checksum(Array(String(text).utf8)))
            let line = numbers(resumed.outputLines.last)
            #expect(abs((line["seconds"] ?? 0) - number(all, "elapsed_seconds")) < 0.001)
            #expect(abs((line["session_seconds"] ?? 0) - number(one, "elapsed_seconds")) < 0.001)
        }

        /// Returns the CRC-32C (RFC 3720) in hexadecimal digits.
        private static func checksum(_ bytes: [UInt8]) -> String {
            let table = (0..<256 as Range<UInt32>).map { byte in
                (0..<8).reduce(byte) { sum, _ in sum >> 1 ^ (sum & 1 == 1 ? 0x82F6_3B78 : 0) }
            }
            let sum = ~bytes.reduce(~0 as UInt32) { sum, byte in
                table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8
            }
            return String(format: "%08x", sum)
        }

        @Test func `while all rows wait for their next attempt, log and progress say why, and the run ends well`()
            throws
        {
            let sender = try Sender()
            let script = Script(
                seed: 1,
                rules: [.init(share: 1, status: 429, reason: "TooManyRequests", times: 1, retryAfter: 12)])
            let simulator = try SimulatorProcess(sender, script: script)
            let rows = 50
            let input = try sender.makeRows(rows, "--plain")
            // Standard error is not a terminal, so a line of progress is written every ten seconds.
            let (finished, results) = try sender.send(
                input, to: simulator.port, ["--template", Tools.fixture("campaign/plain.json")])
            results.expectComplete(rows: rows)
            #expect(results.count("accepted") == rows)
            let lines = finished.errors.split(separator: "\n")
            let notice = "backing off after 429 TooManyRequests"
            #expect(lines.count { $0.hasSuffix("apns-batch: warning: \(notice)") } == 1, "\(finished)")
            #expect(lines.contains { $0.contains("0 rows, \(notice)") }, "\(finished)")
            #expect(results.allSessions["retries"] as? [String: Int] == ["429 TooManyRequests": rows])
        }

        @Test func `resume of a run that is complete changes no figure`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(200)
            let directory = sender.newRunDirectory()
            let first = try sender.command(
                sender.arguments(
                    input, to: simulator.port, runDirectory: directory, ["--template", Sender.template]))
            #expect(first.ending == .exited(0), "\(first)")
            let summary = try Data(contentsOf: URL(filePath: directory + "/summary.json"))
            let again = try sender.command(["resume", directory])
            #expect(again.ending == .exited(0), "\(again)")
            #expect(again.outputLines.last == first.outputLines.last)
            #expect(try Data(contentsOf: URL(filePath: directory + "/summary.json")) == summary)
        }

        @Test func `standard output that is full: the last line is lost, and the exit code is not 0`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(5)
            let arguments = sender.arguments(
                input, to: simulator.port, runDirectory: sender.newRunDirectory(), ["--template", Sender.template])
            let finished = try Child.run(
                "sh", ["-c", "exec \"$0\" \"$@\" > /dev/full", Tools.command] + arguments, name: "full",
                in: sender.scratch)
            #expect(finished.ending == .exited(75), "\(finished)")
            #expect(finished.errors.contains("standard output: No space left on device"), "\(finished)")
        }

        @Test func `quiet says nothing of a run that went well, and json says what summary.json says`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(5)
            let quiet = try sender.send(input, to: simulator.port, ["--template", Sender.template, "-q"])
            #expect(quiet.finished.output == "" && quiet.finished.errors == "", "\(quiet.finished)")
            let bad = try sender.scratch.write("token,name\nxyz,Ada\n", to: "bad.csv")
            let failed = try sender.send(
                bad, to: simulator.port,
                ["--template", Tools.fixture("campaign/plain.json"), "--quiet", "--stop-at", "invalid=never"],
                expecting: 2)
            #expect(failed.finished.output.contains(" invalid=1 "), "\(failed.finished)")

            let (finished, results) = try sender.send(
                input, to: simulator.port, ["--template", Sender.template, "--json"])
            #expect(finished.outputLines.count == 1)
            let printed = try JSONSerialization.jsonObject(with: Data(finished.output.utf8)) as? NSDictionary
            #expect(printed == results.summary as NSDictionary)
            let campaign = try #require(results.summary["campaign"] as? [String: Any])
            #expect(campaign["input"] as? String == input && (campaign["id"] as? String)?.count == 36)
            #expect((campaign["began"] as? String)?.hasSuffix("Z") == true)
            #expect((campaign["template_digest"] as? String)?.hasPrefix("sha256-") == true)
            #expect((campaign["input_crc32c"] as? String)?.count == 8)
        }

        @Test func `status tells its figures as JSON, and of an input without rows that it was read`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.scratch.write("token,name\n", to: "rows.csv")
            let directory = sender.newRunDirectory()
            _ = try sender.command(
                sender.arguments(
                    input, to: simulator.port, runDirectory: directory,
                    ["--template", Tools.fixture("campaign/plain.json")]))
            let text = try sender.command(["status", directory])
            #expect(text.output.contains("11 of 11 bytes read"), "\(text)")
            let json = try sender.command(["status", directory, "--json"])
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any], "\(json)")
            #expect(object["rows"] as? Int == 0 && object["not_read_is"] as? String == "counted")
        }
    }
}
