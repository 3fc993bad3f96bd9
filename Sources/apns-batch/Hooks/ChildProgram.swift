import APNSBatch
import CAPNSProcess
import Foundation

/// A program that is started without a shell, in a process group of its own, and killed with what it started after a time.
struct ChildProgram: Sendable {
    /// The program, searched for in PATH unless it has a slash, and its arguments.
    let arguments: [String]
    let environment: [String: String]
    /// The time after which the program is killed.
    let patience: Duration

    enum Ending {
        case exited(Int32)
        case signaled(Int32)
        case killedAfterPatience
    }

    /// Runs the program to its end. Standard input is /dev/null, and its output goes to standard error.
    ///
    /// - Throws: `SystemError` if it cannot be started.
    func run() async throws -> Ending {
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(null) }
        return try await end(of: start(input: null, output: STDERR_FILENO))
    }

    /// Runs the program with an input, and returns what it wrote to standard output.
    ///
    /// - Throws: `SystemError` if it cannot be started.
    func run(input: String) async throws -> (ending: Ending, output: String) {
        // Files in memory need nobody who writes and reads while the program runs.
        let (source, sink) = (apns_process_memory_file(), apns_process_memory_file())
        defer { [source, sink].forEach { close($0) } }
        let text = Array(input.utf8)
        guard sink >= 0, pwrite(source, text, text.count, 0) == text.count else { throw Self.failure(errno) }
        let ending = try await end(of: start(input: source, output: sink))
        var output = [UInt8](repeating: 0, count: 4096)
        let count = pread(sink, &output, output.count, 0)
        return (ending, String(decoding: output.prefix(max(0, count)), as: UTF8.self))
    }

    private static func failure(_ code: Int32) -> SystemError {
        SystemError("cannot be started: \(String(cString: strerror(code)))")
    }

    /// Starts the program with the signal settings that a shell would set.
    private func start(input: Int32, output: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var process = pid_t()
        let code = posix_spawnp(&process, arguments[0], &actions, &attributes, &argv, &envp)
        guard code == 0 else { throw Self.failure(code) }
        return process
    }

    private func end(of process: pid_t) async -> Ending {
        let deadline = ContinuousClock.now + patience
        var status: Int32 = 0
        while waitpid(process, &status, WNOHANG) == 0 {
            guard ContinuousClock.now < deadline else {
                // What the program started is in its process group, too.
                kill(-process, SIGKILL)
                waitpid(process, &status, 0)
                return .killedAfterPatience
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        let (signal, code) = (status & 0x7f, (status >> 8) & 0xff)
        return signal != 0 ? .signaled(signal) : .exited(code)
    }
}
