import Foundation
import Testing

extension EndToEnd {
    /// Tests of the system calls that are used for sockets. They do not run under the thread and address sanitizers,
    /// whose runtimes do not work with strace.
    @Suite(.enabled(if: [nil, "undefined"].contains(Tools.sanitizer)))
    struct Loops {
        @Test func `with --loop epoll the sockets are driven by epoll`() throws {
            let calls = try trace(strace: [], ["--loop", "epoll"]).calls
            #expect(calls.contains { $0.hasPrefix("epoll_") && $0.hasSuffix("wait") }, "\(calls)")
            #expect(!calls.contains("io_uring_enter"))
        }

        @Test(.enabled(if: Tools.hasIOURing))
        func `by default the sockets are driven by io_uring`() throws {
            let (calls, loop) = try trace(strace: [], [])
            #expect(loop == "io_uring")
            #expect(calls.contains("io_uring_enter"), "\(calls)")
        }

        @Test(arguments: ["EPERM", "ENOSYS"])
        func `where io_uring is refused, epoll takes its place by itself`(error: String) throws {
            let (calls, loop) = try trace(strace: ["-e", "inject=io_uring_setup:error=\(error)"], [])
            #expect(loop == "epoll")
            #expect(calls.contains { $0.hasPrefix("epoll_") && $0.hasSuffix("wait") }, "\(calls)")
            #expect(!calls.contains("io_uring_enter"))
        }

        @Test(.enabled(if: Tools.hasIOURing))
        func `where a ring can be made and not entered, epoll takes its place by itself`() throws {
            let (calls, loop) = try trace(strace: ["-e", "inject=io_uring_enter:error=EPERM"], [])
            #expect(loop == "epoll")
            #expect(calls.contains { $0.hasPrefix("epoll_") && $0.hasSuffix("wait") }, "\(calls)")
        }

        @Test func `where io_uring is refused and asked for, the run says so and ends: exit code 71`() throws {
            let sender = try Sender()
            let input = try sender.makeRows(10)
            let finished = try Child.run(
                "strace",
                [
                    "-f", "-o", "/dev/null", "-e", "trace=io_uring_setup", "-e", "inject=io_uring_setup:error=EPERM",
                    Tools.command, "send", "--input", input, "--to", "localhost:1", "--loop", "io_uring",
                    "--template", Sender.template, "--run-dir", sender.newRunDirectory(),
                ] + sender.credentials.flags, name: "strace", in: sender.scratch)
            #expect(finished.ending == .exited(71), "\(finished)")
            #expect(finished.errors.contains("event loop"), "\(finished)")
        }

        /// Sends 500 rows to nginx under `strace -c`. Returns the names of the system calls made, and the summary's
        /// loop.
        private func trace(strace: [String], _ more: [String]) throws -> (calls: Set<String>, loop: String?) {
            let sender = try Sender()
            let server = try Peer.nginx(sender)
            let input = try sender.makeRows(500)
            let directory = sender.newRunDirectory()
            let table = sender.scratch.path("calls")
            let send = sender.arguments(
                input, to: server.port, runDirectory: directory, ["--template", Sender.template] + more)
            let finished = try Child.run(
                "strace", ["-f", "-c", "-o", table] + strace + [Tools.command] + send, name: "strace",
                in: sender.scratch)
            try #require(finished.ending == .exited(0), "\(finished)")
            let results = try RunResults(directory)
            results.expectComplete(rows: 500)
            #expect(results.count("accepted") == 500)
            let lines = try String(contentsOfFile: table, encoding: .utf8).split(separator: "\n")
            let names = lines.compactMap { $0.split(separator: " ").last.map(String.init) }
            return (Set(names), results.process["loop"] as? String)
        }
    }
}
