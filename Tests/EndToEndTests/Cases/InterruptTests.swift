import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of SIGINT and SIGTERM during a run.
    @Suite struct Interrupts {
        @Test(arguments: [SIGINT, SIGTERM], Tools.loops)
        func `a signal ends the run with 75, and every row that was sent has its line`(
            signal: Int32, loop: String
        ) throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender, streams: 20)
            let rows = 100_000
            let input = try sender.makeRows(rows, "--plain")
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                input, to: server.port, runDirectory: directory,
                ["--template", Tools.fixture("campaign/plain.json"), "--loop", loop])
            let begun = eventually(seconds: 60) { recording.size > 100_000 }
            try #require(begun, "\(process.errors)")
            let ending = process.stop(signal)
            #expect(ending == .exited(75), "\(process.errors)")
            server.stop()

            let results = try RunResults(directory)
            results.expectSummaryAgrees()
            #expect(results.summary["ending"] as? String == "interrupted")
            #expect(results.lines.count < rows && results.count("accepted") > 0)
            #expect(Set(results.lines.map(\.row)).count == results.lines.count)
            let sent = Set(recording.requests.map { String($0.path.dropFirst("/3/device/".count)) })
            let recorded = Set(results.lines.filter { $0.attempts > 0 }.map(\.token))
            #expect(sent.subtracting(recorded) == [], "sent, and without a line")
            #expect(process.output.split(separator: "\n").last?.hasPrefix("rows=\(results.lines.count) ") == true)
        }

        @Test func `a run that waits for more of standard input can be interrupted`() throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender)
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                "-", to: server.port, runDirectory: directory, ["--template", Tools.fixture("campaign/plain.json")],
                standardInput: .pipe)
            process.write("token,name\n00aa,Ada\n00bb,Bo\n")
            let connected = eventually(seconds: 30) { recording.connections > 0 }
            try #require(connected, "\(process.errors)")
            process.send(signal: SIGINT)
            #expect(process.wait(seconds: 30) == .exited(75), "\(process.errors)")
            server.stop()
            let results = try RunResults(directory)
            results.expectSummaryAgrees()
            #expect(Set(recording.requests.map(\.path)).count == results.lines.count { $0.attempts > 0 })
        }

        @Test func `a closed pipe at the output is no crash`() throws {
            let sender = try Sender()
            let input = try sender.makeRows(5_000)
            let piped = try Child.run(
                "sh",
                [
                    "-c", "\"$0\" render --input \"$1\" --to simulator --template \"$2\" --rows 0 | head -n 1",
                    Tools.command, input, Sender.template,
                ], name: "pipe", in: sender.scratch)
            #expect(piped.ending == .exited(0))
            #expect(!piped.errors.contains("Fatal error"))
        }
    }
}
