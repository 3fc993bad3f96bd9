import Foundation
import Testing

extension EndToEnd {
    /// Tests of a process that lacks the resources to start, and of one that ends because of its own error.
    @Suite struct Starved {
        /// Runs the command in a shell that first lowers a limit or closes a descriptor.
        private func run(_ preparation: String, _ arguments: [String], in sender: Sender) throws -> Finished {
            try Child.run(
                "bash", ["-c", preparation + "; exec \"$0\" \"$@\"", Tools.command] + arguments, name: "starved",
                in: sender.scratch, seconds: 60)
        }

        private static func rows(_ sender: Sender) throws -> [String] {
            [
                "send", "--input", try sender.makeRows(100), "--template", Sender.template, "--to", "simulator",
                "--run-dir", sender.newRunDirectory(),
            ]
        }

        @Test(arguments: [7, 10, 16, 20])
        func `too few descriptors: one sentence that names the limit, exit code 71`(limit: Int) throws {
            let sender = try Sender()
            let finished = try run("ulimit -n \(limit)", try Self.rows(sender), in: sender)
            #expect(finished.ending == .exited(71), "\(finished)")
            #expect(finished.errors.contains("Too many open files"), "\(finished)")
            #expect(finished.errors.contains("ulimit -n"), "\(finished)")
        }

        // Sanitizers map terabytes of address space.
        @Test(.enabled(if: Tools.sanitizer == nil), arguments: [120_000, 200_000, 300_000])
        func `too little address space: one sentence that names the limit, exit code 71`(kilobytes: Int) throws {
            let sender = try Sender()
            for arguments in [["--version"], try Self.rows(sender)] {
                let finished = try run("ulimit -v \(kilobytes)", arguments, in: sender)
                #expect(finished.ending == .exited(71), "\(finished)")
                #expect(finished.errors.contains("ulimit -v"), "\(finished)")
                #expect(finished.errors.split(separator: "\n").count == 1, "\(finished)")
            }
        }

        @Test(.enabled(if: Tools.sanitizer == nil))
        func `address space that is used up on the way: a sentence, exit code 71, no trap`() throws {
            let sender = try Sender()
            for kilobytes in stride(from: 250_000, through: 1_000_000, by: 50_000) {
                let finished = try run("ulimit -v \(kilobytes)", Self.rows(sender), in: sender)
                #expect([.exited(0), .exited(71)].contains(finished.ending), "\(kilobytes): \(finished)")
                #expect(!finished.errors.contains("fault of its own"), "\(kilobytes): \(finished)")
            }
        }

        /// The command checks at the start whether the limit is enough. After that, nothing may trap or fail.
        @Test(.enabled(if: Tools.sanitizer == nil), arguments: [350_000, 400_000, 480_000, 500_000, 540_000, 600_000])
        func `an address space of some hundred megabytes is enough, or refused at the start`(kilobytes: Int) throws {
            let sender = try Sender()
            let finished = try run("ulimit -v \(kilobytes)", try Self.rows(sender), in: sender)
            let isRefused = finished.ending == .exited(71) && finished.errors.contains("no memory to start")
            #expect(finished.ending == .exited(0) || isRefused && kilobytes < 480_000, "\(finished)")
        }

        /// The test does not run under the thread and address sanitizers, whose runtimes do not work with strace.
        @Test(
            .enabled(if: [nil, "undefined"].contains(Tools.sanitizer)),
            arguments: ["EAGAIN:when=1+", "EPERM:when=1+", "EAGAIN:when=7+"])
        func `too few threads: a sentence, exit code 71, no hang`(error: String) throws {
            let sender = try Sender()
            let finished = try Child.run(
                "strace",
                ["-f", "-o", "/dev/null", "-e", "trace=clone3", "-e", "inject=clone3:error=\(error)", Tools.command]
                    + (try Self.rows(sender)), name: "strace", in: sender.scratch, seconds: 60)
            #expect(finished.ending == .exited(71), "\(finished)")
            #expect(finished.errors.contains("no thread"), "\(finished)")
        }

        @Test(
            .enabled(if: [nil, "undefined"].contains(Tools.sanitizer)),
            arguments: ["eventfd2:error=EPERM", "epoll_create1:error=EPERM"])
        func `no event loop of any kind: a sentence, exit code 71, no trap`(refused: String) throws {
            let sender = try Sender()
            let finished = try Child.run(
                "strace",
                ["-f", "-o", "/dev/null", "-e", "inject=\(refused)", Tools.command] + (try Self.rows(sender)),
                name: "strace", in: sender.scratch, seconds: 60)
            #expect(finished.ending == .exited(71), "\(finished)")
            #expect(finished.errors.contains("no event loop"), "\(finished)")
        }

        /// The limit applies to the threads of a user, but not to root. The user may read what root may, because the checkout may be
        /// in a folder that only root can enter.
        @Test(.enabled(if: geteuid() == 0 && Tools.sanitizer == nil))
        func `enough threads to start and too few for all lanes: the run ends with a sentence, exit code 71`() throws {
            let sender = try Sender()
            chmod(sender.scratch.directory.path, 0o777)
            let finished = try Child.run(
                "setpriv",
                ["--reuid", "54321", "--clear-groups", "--inh-caps", "+dac_override"]
                    + ["--ambient-caps", "+dac_override", "--securebits", "+no_setuid_fixup"]
                    + ["prlimit", "--nproc=24:24", Tools.command] + (try Self.rows(sender)) + ["--lanes", "64"],
                name: "setpriv", in: sender.scratch, seconds: 60)
            #expect(finished.ending == .exited(71), "\(finished)")
            #expect(finished.errors.contains("cannot start a thread for lane"), "\(finished)")
            #expect(finished.errors.contains("ulimit -u"), "\(finished)")
        }

        @Test func `standard descriptors that are closed are /dev/null: no file takes their place`() throws {
            let sender = try Sender()
            let arguments = try Self.rows(sender)
            let finished = try run("exec 0<&- 1>&- 2>&-", arguments, in: sender)
            // The summary could not be printed.
            #expect(finished.ending == .exited(75), "\(finished)")
            let results = try RunResults(try #require(arguments.last))
            results.expectComplete(rows: 100)
            #expect(results.count("accepted") == 100)
        }

        @Test(arguments: [SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGTRAP])
        func `a fatal signal ends the run with one line that says how it goes on`(signal: Int32) throws {
            let sender = try Sender()
            let server = try SimulatorProcess(sender)
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                "-", to: server.port, runDirectory: directory, ["--template", Tools.fixture("campaign/plain.json")],
                standardInput: .pipe)
            process.write("token,name\n" + String(repeating: "ab", count: 32) + ",Ada\n")
            let begun = eventually(seconds: 30) {
                FileManager.default.fileExists(atPath: directory + "/ledger.board")
            }
            try #require(begun, "\(process.errors)")
            #expect(process.stop(signal) == .killed(bySignal: signal), "\(process.errors)")
            let lines = process.errors.split(separator: "\n").filter { $0.contains("fault") }
            #expect(lines.count == 1 && lines[0].contains("apns-batch resume \(directory)"), "\(process.errors)")
            #expect(!process.errors.contains("Registers") && !process.errors.contains("crashed"), "\(process.errors)")
        }

        @Test func `SIGQUIT ends a run in order, like SIGTERM`() throws {
            let sender = try Sender()
            let server = try SimulatorProcess(sender)
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                "-", to: server.port, runDirectory: directory, ["--template", Tools.fixture("campaign/plain.json")],
                standardInput: .pipe)
            process.write("token,name\n" + String(repeating: "ab", count: 32) + ",Ada\n")
            let begun = eventually(seconds: 30) {
                FileManager.default.fileExists(atPath: directory + "/ledger.board")
            }
            try #require(begun, "\(process.errors)")
            #expect(process.stop(SIGQUIT) == .exited(75), "\(process.errors)")
            #expect(process.errors.contains("SIGQUIT"), "\(process.errors)")
            #expect(try RunResults(directory).summary["ending"] as? String == "interrupted")
        }
    }
}
