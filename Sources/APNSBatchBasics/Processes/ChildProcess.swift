import Glibc

/// A program that was started without a shell, with the signal settings that a shell would set, in a process group of its own.
package struct ChildProcess: Sendable {
    /// How a program ended.
    package enum Ending: Sendable, Equatable {
        case exited(Int32)
        case signaled(Int32)
    }

    /// Why a program cannot be started.
    package struct StartError: Error, CustomStringConvertible {
        /// The error number of the system.
        package let code: Int32
        package var description: String { "cannot be started: \(systemMessage(code))" }
    }

    private let id: pid_t

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: The program, searched for in PATH unless it has a slash, and its arguments. At least one.
    ///   - environment: Its variables; nil for those of this process.
    ///   - input: The descriptor that becomes its standard input.
    ///   - output: The descriptor that becomes its standard output.
    ///   - errors: The descriptor that becomes its standard error; nil for that of this process.
    package init(
        _ arguments: [String], environment: [String: String]? = nil, input: Int32, output: Int32, errors: Int32? = nil
    ) throws(StartError) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (own, standard) in [
            (input, STDIN_FILENO), (output, STDOUT_FILENO), (errors ?? STDERR_FILENO, STDERR_FILENO),
        ] {
            unsafe posix_spawn_file_actions_adddup2(&actions, own, standard)
        }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe Self.setSignals(of: &attributes)
        let argv = unsafe Self.copies(of: arguments)
        let envp = unsafe environment.map { unsafe Self.copies(of: $0.map { "\($0)=\($1)" }) }
        defer { unsafe (argv + (envp ?? [])).forEach { unsafe free($0) } }
        var process = pid_t()
        let code = unsafe posix_spawnp(&process, arguments[0], &actions, &attributes, argv, envp ?? Self.variables)
        guard code == 0 else { throw StartError(code: code) }
        id = process
    }

    private static func setSignals(of attributes: UnsafeMutablePointer<posix_spawnattr_t>) {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(attributes, &signals)
        unsafe posix_spawnattr_setflags(
            attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }

    /// Returns texts as C has them. The caller frees them.
    private static func copies(of texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe texts.map { unsafe strdup($0) } + [nil]
    }

    /// The variables of this process, which it does not change.
    private static var variables: [UnsafeMutablePointer<CChar>?] {
        var count = 0
        while unsafe environ[count] != nil { count += 1 }
        return unsafe Array(UnsafeBufferPointer(start: environ, count: count + 1))
    }

    /// Returns how the program ended; nil while it runs. Must not be called again after it has returned an ending.
    package func ending() -> Ending? { wait(WNOHANG) }

    /// Kills the program, and what it started and left in its process group, and waits for its end.
    package func kill() {
        _ = Glibc.kill(-id, SIGKILL)
        _ = wait(0)
    }

    private func wait(_ options: Int32) -> Ending? {
        var status: Int32 = 0
        while true {
            let found = unsafe waitpid(id, &status, options)
            if found == 0 { return nil }
            if found < 0, errno == EINTR { continue }
            // A process that is not ours any more, because other code waited for it, has ended somehow.
            guard found == id else { return .exited(-1) }
            let (signal, code) = (status & 0x7f, (status >> 8) & 0xff)
            return signal != 0 ? .signaled(signal) : .exited(code)
        }
    }
}
