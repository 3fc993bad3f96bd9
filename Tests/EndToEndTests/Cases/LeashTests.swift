import Foundation
import Testing

extension EndToEndRuns {
    /// Tests that a run ends with its supervisor if it is asked to, and only then.
    @Suite struct Leashes {
        /// Answers come long after the test.
        private static let silent = Script(
            seed: 1, rules: [], latency: "{ distribution: uniform, min_ms: 3000000, max_ms: 3000001 }")
        private static let template = ["--template", Sender.template]

        private func state(_ directory: String, _ sender: Sender) -> String {
            (try? sender.command(["status", directory]).output) ?? ""
        }

        private func waitForRequests(_ directory: String, _ sender: Sender) -> Bool {
            eventually(seconds: 60) { state(directory, sender).contains("may be sent") }
        }

        @Test func `the end of the leash is a signal, and two seconds later the second one`() throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender, ["--hold", "\(TestCredentials.topic):1"])
            let rows = try sender.scratch.write("token,name\n00aa,Ada\n", to: "rows.csv")
            let process = try sender.start(
                rows, to: server.port, runDirectory: sender.newRunDirectory(),
                ["--template", Tools.fixture("campaign/plain.json"), "--leash", "0"], standardInput: .pipe)
            process.write("what is written to a leash means nothing\n")
            let isInFlight = eventually(seconds: 60) { recording.requests.count == 1 }
            #expect(isInFlight && !process.isOver, "\(process.errors)")
            process.closeInput()
            #expect(process.wait(seconds: 60) == .exited(75), "\(process.errors)")
            #expect(process.errors.contains("end of the supervisor: taking no more rows"), "\(process.errors)")
            // Answers are awaited for ten seconds, unless there is a second signal.
            #expect(process.errors.contains("stopped waiting"), "\(process.errors)")
            #expect(process.output.contains(" may_be_sent=1 "), "\(process.output)")
        }

        @Test func `a leash that has ended before the run begins ends the process`() throws {
            let sender = try Sender()
            let process = try sender.start(
                "-", to: 1, runDirectory: sender.newRunDirectory(), Self.template + ["--leash", "0"],
                standardInput: .pipe)
            process.closeInput()
            let ending = process.wait(seconds: 60)
            #expect(
                [.killed(bySignal: SIGTERM), .exited(64), .exited(75)].contains(ending), "\(ending): \(process.errors)")
        }

        @Test(arguments: [("900", "is not open"), ("-1", "is not open"), ("0", "is neither a pipe nor a socket")])
        func `a leash that cannot end is refused`(descriptor: String, message: String) throws {
            let sender = try Sender()
            let refused = try sender.command(
                sender.arguments("rows.csv", to: 1, runDirectory: "x", ["--leash=\(descriptor)"]))
            #expect(refused.ending == .exited(64), "\(refused)")
            #expect(refused.errors.contains("--leash: descriptor \(descriptor) \(message)"), "\(refused)")
        }

        /// A shell starts the run in the background, and ends when its input is closed.
        @Test(arguments: [true, false]) func `a run ends with its parent only if it is asked to`(isTied: Bool) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender, script: Self.silent)
            let directory = sender.newRunDirectory()
            let command =
                [Tools.command]
                + sender.arguments(
                    try sender.makeRows(10), to: simulator.port, runDirectory: directory,
                    Self.template + (isTied ? ["--die-with-parent"] : []))
            let shell = try Child(
                "sh", ["-c", "\"$@\" < /dev/null & echo $!; read line", "sh"] + command, name: "shell",
                in: sender.scratch, input: .pipe)
            #expect(waitForRequests(directory, sender), "\(shell.errors)")
            let process = try #require(pid_t(shell.output.trimmingCharacters(in: .whitespacesAndNewlines)))
            defer { if !isTied { kill(process, SIGKILL) } }
            shell.closeInput()
            _ = shell.wait(seconds: 60)
            if isTied {
                let ended = eventually(seconds: 60) {
                    state(directory, sender).contains("the last process ended in order")
                }
                #expect(ended, "\(shell.errors)")
                #expect(shell.errors.contains("SIGTERM: taking no more rows"), "\(shell.errors)")
            } else {
                #expect(state(directory, sender).contains("process \(process) is at work"), "\(shell.errors)")
                #expect(!shell.errors.contains("SIGTERM"))
            }
        }
    }
}
