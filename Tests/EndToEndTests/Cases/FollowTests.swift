import Foundation
import Testing

extension EndToEnd {
    /// Tests of `status --follow`, which shows a run while another process works on it.
    @Suite struct Following {
        @Test func `status --follow ends with the run and its exit code, as JSON with a line for each point`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: .slow)
            let directory = sender.newRunDirectory()
            let process = try sender.startSlowly(simulator, directory)
            let followed = try sender.command(["status", directory, "--follow", "--json"])
            #expect(process.wait(seconds: 120) == .exited(0))
            #expect(followed.ending == .exited(0), "\(followed)")
            let lines = try followed.outputLines.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            let last = try #require(lines.last)
            #expect(
                last["rows"] as? Int == 2_500 && last["kind"] as? String == "end" && last["requests"] as? Int == 2_500)
            #expect((last["outcomes"] as? [String: Int])?["accepted"] == 2_500)
            let seconds = lines.filter { $0["kind"] as? String == "second" }
            #expect(
                !seconds.isEmpty && seconds.allSatisfy { $0["answer_ms"] != nil && $0["per_second"] != nil }, "\(lines)"
            )
            #expect(lines.count <= (try Timeline(directory)).points.count)
        }

        @Test func `status --follow of a run that has ended shows its last point and its state`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let directory = sender.newRunDirectory()
            let sent = try sender.command(
                sender.arguments(
                    try sender.makeRows(50, "--plain"), to: simulator.port, runDirectory: directory,
                    ["--template", Tools.fixture("campaign/plain.json")]))
            #expect(sent.ending == .exited(0), "\(sent)")
            let followed = try sender.command(["status", directory, "--follow"])
            #expect(followed.ending == .exited(0), "\(followed)")
            #expect(followed.outputLines.first?.contains("50 rows") == true, "\(followed)")
            #expect(followed.outputLines.first?.contains("100% ") == true, "all rows have ended: \(followed)")
            #expect(followed.outputLines.last?.contains("ended=50") == true, "\(followed)")
            #expect(!followed.output.contains("\u{1B}"))
            let missing = try sender.command(["status", sender.newRunDirectory(), "--follow"])
            #expect(missing.ending == .exited(64) && missing.errors.contains("holds no run"), "\(missing)")
        }

        @Test func `SIGINT ends status --follow, and the run goes on`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: .slow)
            let directory = sender.newRunDirectory()
            let process = try sender.startSlowly(simulator, directory)
            let follower = try Child(
                Tools.command, ["status", directory, "--follow", "--json"], name: "follow", in: sender.scratch)
            let shows = eventually(seconds: 60) { follower.isOver || follower.output.contains("\n") }
            try #require(shows && !follower.isOver, "\(follower.errors)")
            #expect(follower.stop(SIGINT) == .exited(2), "\(follower.errors)")
            #expect(process.wait(seconds: 120) == .exited(0), "\(process.errors)")
        }

        @Test(arguments: [(80, "C.UTF-8"), (50, "C")])
        func `on a terminal status --follow draws a screen that fits`(columns: Int, locale: String) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: .slow)
            let directory = sender.newRunDirectory()
            let process = try sender.startSlowly(simulator, directory)
            let followed = try Child.run(
                Tools.python,
                [Tools.peer("on_terminal.py"), String(columns), Tools.command, "status", directory, "--follow"],
                name: "terminal", in: sender.scratch, environment: ["TERM": "xterm", "LC_ALL": locale])
            #expect(process.wait(seconds: 120) == .exited(0), "\(process.errors)")
            #expect(followed.ending == .exited(0), "\(followed)")
            let parts = followed.output.components(separatedBy: "\u{1B}[?1049l")
            try #require(parts.count == 2, "\(followed)")
            let screens = parts[0].components(separatedBy: "\u{1B}[H").dropFirst()
            #expect(screens.count >= 2)
            let lines = screens.flatMap { $0.components(separatedBy: "\r\n").map { $0.prefix { $0 != "\u{1B}" } } }
            #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
            #expect(lines.contains { $0.hasPrefix("answers   p50 ") } && lines.contains { $0.contains(" accepted") })
            #expect(lines.contains { $0.contains("█") } == (locale == "C.UTF-8"), "\(lines)")
            #expect(lines.allSatisfy { line in locale != "C" || line.allSatisfy(\.isASCII) }, "\(lines)")
            // What was shown last stays, followed by the state of the rows.
            #expect(parts[1].contains("2,500 accepted") && parts[1].contains("ended=2500"), "\(parts[1])")
        }
    }
}
