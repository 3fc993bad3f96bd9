import APNSBatchTestSupport
import Foundation
import Testing

/// Tests of the command. They wait for processes most of the time, so that some run at the same time: `scripts/test` says how many.
@Suite(.ownThreads) struct EndToEnd {}

/// Tests of whole runs: how they begin and end, what stops them, and what they leave behind.
@Suite(.ownThreads) struct EndToEndRuns {}

/// Tests that wait most of the time until something fails.
@Suite(.ownThreads) struct EndToEndUnderFault {}

extension EndToEnd {
    @Suite struct Support {
        @Test func `the command stands next to the test bundle`() {
            #expect(FileManager.default.isExecutableFile(atPath: Tools.command), "\(Tools.command)")
        }

        @Test func `a child's output, exit code and death by signal are seen`() throws {
            let scratch = try Scratch()
            let ended = try Child.run("sh", ["-c", "echo out; echo err >&2; exit 7"], name: "sh", in: scratch)
            #expect(ended.ending == .exited(7))
            #expect(ended.output == "out\n")
            #expect(ended.errors == "err\n")
            let slow = try Child("sleep", ["60"], name: "sleep", in: scratch)
            #expect(slow.stop() == .killed(bySignal: SIGTERM))
        }

        @Test func `servers listen, answer h2load and end`() throws {
            let sender = try Sender()
            for peer in [try Peer.nghttpd(sender), try Peer.nginx(sender), try Peer.python(sender).peer] {
                let url = "https://localhost:\(peer.port)/3/device/00"
                let loaded = try Child.run("h2load", ["-n", "20", "-m", "5", url], name: "h2load", in: sender.scratch)
                #expect(loaded.output.contains("20 done, "), "\(loaded)")
            }
        }
    }
}
