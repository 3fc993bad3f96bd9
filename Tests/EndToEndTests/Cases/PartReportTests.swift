import Foundation
import Testing

extension EndToEnd {
    /// Tests of the report of a campaign whose parts were sent by runs of their own.
    @Suite struct PartReports {
        private static let rows = 40

        /// The directory of a campaign of three parts, and the input of each.
        static func divide(_ sender: Sender) throws -> (directory: String, inputs: [String]) {
            let directory = sender.newRunDirectory()
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let inputs = try (0..<3).map { _ in try sender.makeRows(rows) }
            let parts = inputs.enumerated().map { part, input in
                ["part": part, "input": input, "bytes": 1_000, "rows": rows] as [String: Any]
            }
            let manifest: [String: Any] = [
                "format": 1, "campaign_id": "0e2a8c9e-2f7f-4a52-9d0c-0f5d5c6d7e8f", "name": "nightly",
                "began": "2026-11-25T10:00:00Z", "parts": parts,
            ]
            try JSONSerialization.data(withJSONObject: manifest)
                .write(to: URL(filePath: directory + "/manifest.json"))
            return (directory, inputs)
        }

        static func send(
            _ part: Int, _ stage: (directory: String, inputs: [String]), _ simulator: SimulatorProcess,
            _ sender: Sender,
            _ flags: [String] = [], code: Int32 = 0
        ) throws {
            let campaign = sender.scratch.path("campaign.yaml")
            try Data("template: \(Sender.template)\n".utf8).write(to: URL(filePath: campaign))
            let finished = try sender.command(
                [
                    "run", campaign, "--input", stage.inputs[part], "--to", "localhost:\(simulator.port)", "--run-dir",
                    "\(stage.directory)/parts/0000\(part)",
                ] + sender.credentials.flags + flags)
            try #require(finished.ending == .exited(code), "\(finished)")
        }

        private static func object(_ path: String) throws -> [String: Any] {
            try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path))) as? [String: Any])
        }

        @Test func `one report and one pair of token files of three parts that were sent by themselves`() throws {
            let sender = try Sender()
            let stage = try Self.divide(sender)
            let rule = Script.Rule(share: 0.3, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000)
            let script = Script(seed: 1, rules: [rule])
            let simulator = try SimulatorProcess(sender, script: script)
            for part in [0, 2] { try Self.send(part, stage, simulator, sender) }

            let early = try sender.command(["report", stage.directory, "--format", "text"])
            #expect(early.ending == .exited(0), "\(early)")
            #expect(
                early.output.hasPrefix("FAILED: 1 of 3 parts not begun; 80 rows have ended, 40 rows are left"),
                "\(early)")

            try Self.send(1, stage, simulator, sender)
            let finished = try sender.command(["report", stage.directory])
            #expect(finished.ending == .exited(0) && finished.output.hasSuffix("/report.html\n"), "\(finished)")
            let report = try Self.object(stage.directory + "/report.json")
            let summary = try #require(report["summary"] as? [String: Any])
            let summaries = try (0..<3).map { try Self.object("\(stage.directory)/parts/0000\($0)/summary.json") }
            for name in ["rows", "accepted", "rejected", "attempts", "sessions"] {
                let sum = summaries.reduce(0) { $0 + ($1[name] as? Int ?? 0) }
                #expect(summary[name] as? Int == sum && sum > 0, "\(name)")
            }
            #expect(summary["rows"] as? Int == 120 && summary["left"] as? Int == 0)
            #expect(
                (report["parts"] as? [[String: Any]])?.map { $0["state"] as? String }
                    == Array(repeating: "complete", count: 3))
            #expect(report["campaign"] as? String == "nightly")
            let course = try #require(report["course"] as? [String: Any])
            let rates = try #require(course["requests_per_second"] as? [String: Any])
            #expect((rates["mean"] as? [Any])?.contains { ($0 as? Double ?? 0) > 0 } == true, "\(course)")

            let results = try (0..<3).flatMap { part in
                try RunResults("\(stage.directory)/parts/0000\(part)").lines
                    .filter { $0.outcome == "rejected" }
                    .map { "\(part),\($0.row),\($0.token),Unregistered,1700000000000" }
            }
            let lines = try String(contentsOfFile: stage.directory + "/invalid-tokens.csv", encoding: .utf8)
                .split(separator: "\n").map(String.init)
            #expect(lines.first == "part,row,token,reason,timestamp" && results.count > 10)
            #expect(lines.dropFirst().sorted() == results.sorted())
            let text = try String(contentsOfFile: stage.directory + "/report.txt", encoding: .utf8)
            #expect(text.hasPrefix("OK: ") && text.contains("\nParts\n-----\n"), "\(text)")
            let page = try String(contentsOfFile: stage.directory + "/report.html", encoding: .utf8)
            #expect(page.contains("<b>OK:</b>") && page.hasSuffix("</html>\n"))

            let compared = try sender.command(["report", stage.directory, stage.directory + "/parts/00001"])
            #expect(compared.ending == .exited(0) && compared.outputLines.count == 3, "\(compared)")
        }

        @Test func `a part at work is named and delays the report; a manifest that was cut is refused with its path`()
            throws
        {
            let sender = try Sender()
            let stage = try Self.divide(sender)
            let simulator = try SimulatorProcess(sender, script: .slow)
            let directory = "\(stage.directory)/parts/00001"
            let process = try sender.startSlowly(simulator, directory, rows: 1_000)
            let early = try sender.command(["report", stage.directory])
            #expect(early.ending == .exited(75), "\(early)")
            #expect(early.errors.contains("parts/00001: a process is working on this part"), "\(early)")
            _ = process.stop(SIGKILL)
            let killed = try sender.command(["report", stage.directory, "--format", "text"])
            #expect(killed.ending == .exited(0) && killed.output.contains("1 of 3 parts killed"), "\(killed)")

            let path = stage.directory + "/manifest.json"
            let whole = try Data(contentsOf: URL(filePath: path))
            try whole.prefix(whole.count / 2).write(to: URL(filePath: path))
            let cut = try sender.command(["report", stage.directory])
            #expect(cut.ending == .exited(64) && cut.errors.contains("manifest.json: expected an object"), "\(cut)")
        }
    }
}
