import Foundation

/// The program of `on_complete`, which is told of the end of a run by its environment.
struct CompletionProgram: Sendable {
    /// The program, searched for in PATH unless it has a slash, and its arguments. There is no shell.
    let arguments: [String]
    /// The time after which the program and what it started are killed.
    let patience: Duration
    /// The variables of this process that the program does not get, because they hold secrets.
    let hidden: Set<String>

    /// Runs the program to its end. Standard input is /dev/null, and its output goes to standard error. A failure is a warning.
    func run(_ variables: [String: String]) async {
        do {
            let process = try start(variables)
            if let failure = await end(of: process) { warn(failure) }
        } catch {
            warn("\(error)")
        }
    }

    private func warn(_ text: String) { complain("warning: on_complete: \(arguments[0]): \(text)") }

    /// Starts the program in a process group of its own, with the signal settings that a shell would set.
    private func start(_ variables: [String: String]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO)
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
        let environment = ProcessInfo.processInfo.environment.filter { !hidden.contains($0.key) }
            .merging(variables) { $1 }
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var process = pid_t()
        let code = posix_spawnp(&process, arguments[0], &actions, &attributes, &argv, &envp)
        guard code == 0 else { throw SystemError("cannot be started: \(String(cString: strerror(code)))") }
        return process
    }

    /// Returns what went wrong; nil if the program ended with exit code 0.
    private func end(of process: pid_t) async -> String? {
        let deadline = ContinuousClock.now + patience
        var status: Int32 = 0
        while waitpid(process, &status, WNOHANG) == 0 {
            guard ContinuousClock.now < deadline else {
                // What the program started is in its process group, too.
                kill(-process, SIGKILL)
                waitpid(process, &status, 0)
                return "was killed after \(patience.components.seconds) s"
            }
            try? await Task.sleep(for: .milliseconds(20))
        }
        let (signal, code) = (status & 0x7f, (status >> 8) & 0xff)
        if signal != 0 { return "was ended by signal \(signal)" }
        return code == 0 ? nil : "ended with exit code \(code)"
    }
}
