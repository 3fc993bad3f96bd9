import Foundation
import Testing

extension EndToEnd {
    /// Tests of the files that are made of a run when it ends.
    @Suite struct Reports {
        private static func read(_ directory: String, _ name: String) throws -> String {
            try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
        }

        @Test func `after a kill, report and files of tokens have the rows of all sessions`() throws {
            let sender = try Sender()
            var script = Script.slow
            script.rules = [
                .init(share: 0.2, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000),
                .init(share: 0.1, status: 400, reason: "BadDeviceToken"),
                .init(share: 0.1, status: 400, reason: "DeviceTokenNotForTopic"),
            ]
            let simulator = try SimulatorProcess(sender, script: script)
            let directory = sender.newRunDirectory()
            let process = try sender.startSlowly(simulator, directory, rows: 1_000)
            let early = try sender.command(["report", directory])
            #expect(early.ending == .exited(75) && early.errors.contains("is working on this run"), "\(early)")
            _ = process.stop(SIGKILL)
            let killed = try sender.command(["report", directory])
            #expect(killed.ending == .exited(0) && killed.output.hasSuffix("/report.html\n"), "\(killed)")
            let ofKilled = try Self.read(directory, "report.txt")
            #expect(ofKilled.hasPrefix("FAILED: the last process was killed; "), "\(ofKilled)")
            #expect(ofKilled.contains("apns-batch resume \(directory)\n"), "\(ofKilled)")
            #expect(ofKilled.contains("1 of 1 session was killed."), "\(ofKilled)")
            #expect(!ofKilled.contains("invalid-tokens.csv"))
            let told = try JSONSerialization.jsonObject(with: Data(Self.read(directory, "report.json").utf8))
            let account = try #require((told as? [String: Any])?["summary"] as? [String: Any])
            let (ended, left) = (account["rows"] as? Int ?? -1, account["left"] as? Int ?? -1)
            #expect(ended > 0 && ended + left == 1_000 && account["left_is_estimated"] as? Bool == false, "\(account)")
            #expect(!FileManager.default.fileExists(atPath: directory + "/invalid-tokens.csv"))
            let resumed = try sender.command(["resume", directory, "--streams", "500"])
            #expect(resumed.ending == .exited(0), "\(resumed)")

            let rejected = try RunResults(directory).lines.filter { $0.outcome == "rejected" }
            func lines(_ name: String) throws -> [String] {
                try Self.read(directory, name).split(separator: "\n").dropFirst().map(String.init).sorted()
            }
            let gone = rejected.filter { $0.status == "410" }
            let others = rejected.filter { $0.status == "400" }
            try #require(gone.count > 100 && others.count > 100)
            #expect(
                try lines("invalid-tokens.csv")
                    == gone.map { "\($0.row),\($0.token),Unregistered,1700000000000" }.sorted())
            #expect(
                try lines("doubtful-tokens.csv") == others.map { "\($0.row),\($0.token),\($0.reason),400" }.sorted())

            let json = try JSONSerialization.jsonObject(with: Data(Self.read(directory, "report.json").utf8))
            let report = try #require(json as? [String: Any])
            #expect((report["summary"] as? [String: Any])?["sessions"] as? Int == 2)
            let course = try #require(report["course"] as? [String: Any])
            let events = try #require(course["events"] as? [[String: Any]])
            #expect(events.map { $0["text"] as? String } == ["session 2 begins; session 1 was killed"])
            let resent = try #require((report["summary"] as? [String: Any])?["resent"] as? Int)
            let plain = try Self.read(directory, "report.txt")
            #expect(plain.contains("1 of 2 sessions was killed."), "\(plain)")
            #expect(resent == 0 || plain.contains("\(resent) row"), "\(plain)")
            let page = try Self.read(directory, "report.html")
            #expect(page.contains("<b>OK:</b>") && page.hasSuffix("</html>\n"))

            let again = try sender.command(["report", directory])
            #expect(again.ending == .exited(0) && again.output.hasSuffix("/report.html\n"), "\(again)")
            #expect(try Self.read(directory, "report.html") == page)
            let text = try sender.command(["report", directory, "--format", "text"])
            #expect(try text.output == Self.read(directory, "report.txt") && text.output.hasPrefix("OK: "), "\(text)")
        }

        @Test func `a file that is not ours stays, with a warning; report none leaves the report out`() throws {
            let sender = try Sender()
            func send(_ directory: String, _ more: [String]) throws -> Finished {
                try sender.command(
                    [
                        "send", "--input", try sender.makeRows(5), "--template", Sender.template, "--to", "simulator",
                        "--run-dir", directory,
                    ] + more)
            }
            let directory = sender.newRunDirectory()
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Data("mine".utf8).write(to: URL(filePath: directory + "/report.txt"))
            let warned = try send(directory, [])
            #expect(warned.ending == .exited(0), "\(warned)")
            #expect(warned.errors.contains("warning: the run has no report: \(directory)/report.txt already exists"))
            #expect(try Self.read(directory, "report.txt") == "mine")
            let quiet = sender.newRunDirectory()
            #expect(try send(quiet, ["--report", "none"]).ending == .exited(0))
            let files = try FileManager.default.contentsOfDirectory(atPath: quiet)
            #expect(files.contains("invalid-tokens.csv") && !files.contains { $0.hasPrefix("report") }, "\(files)")
            let wrong = try send(quiet, ["--report", "full"])
            #expect(
                wrong.ending == .exited(64) && wrong.errors.contains("--report: expected files or none"), "\(wrong)")
        }
    }
}
