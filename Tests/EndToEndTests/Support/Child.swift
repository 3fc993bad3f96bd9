import Foundation
import Synchronization
import Testing

/// A process started by a test. Its output is written to files, waits for it have a deadline, and it is ended by its
/// id.
///
/// Every process must be waited for; `Child.run` does both.
final class Child: @unchecked Sendable {
    /// How a process ended.
    enum Ending: Equatable, CustomStringConvertible {
        case exited(Int32)
        case killed(bySignal: Int32)
        case tookTooLong

        var description: String {
            switch self {
            case .exited(let code): "exited with \(code)"
            case .killed(let signal): "killed by signal \(signal)"
            case .tookTooLong: "still ran at the deadline and was killed"
            }
        }
    }

    enum Input {
        case nothing
        case file(URL)
        /// The input stays open until `closeInput` or until this process ends.
        case pipe
    }

    struct SpawnError: Error, CustomStringConvertible {
        let program: String
        let code: Int32
        var description: String { "cannot start \(program): \(String(cString: strerror(code)))" }
    }

    /// Held while a child is started, or while descriptors are made that it must not inherit.
    private static let starting = Mutex(())

    let id: pid_t
    private let scratch: Scratch
    /// Whether it is the command, either alone or run by a tool, and whether it was asked to show rows.
    private let isCommand: Bool
    private let showsRows: Bool
    /// Whether it was asked for a provider token, on its standard output.
    private let makesToken: Bool
    private let outputFile: URL
    private let errorFile: URL
    private var inputDescriptor: Int32
    private let ended = DispatchSemaphore(value: 0)
    // The waiting thread writes this once before it signals `ended`, and it is read afterwards.
    private var status: Int32 = 0

    /// Starts `program`, which is a path or a name on PATH. Its output goes to files in `scratch`, named after `name`.
    init(
        _ program: String, _ arguments: [String], name: String, in scratch: Scratch, input: Input = .nothing,
        environment: [String: String] = [:]
    ) throws {
        self.scratch = scratch
        isCommand = ([program] + arguments).contains(Tools.command)
        showsRows = arguments.contains("render")
        makesToken = arguments.first == "provider-token"
        let number = scratch.nextNumber()
        outputFile = scratch.file("\(name)-\(number).out")
        errorFile = scratch.file("\(name)-\(number).err")

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var pipeEnds: [Int32] = [-1, -1]
        switch input {
        case .nothing: posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        case .file(let url): posix_spawn_file_actions_addopen(&actions, 0, url.path, O_RDONLY, 0)
        case .pipe:
            // Another child that is started at this moment must not inherit the descriptors.
            Self.starting.withLock { _ in
                precondition(pipe(&pipeEnds) == 0)
                for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            }
            posix_spawn_file_actions_adddup2(&actions, pipeEnds[0], 0)
        }
        posix_spawn_file_actions_addopen(&actions, 1, outputFile.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errorFile.path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The test runner may block or ignore signals. A child starts with the signal settings that a shell would set.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var argv = ([program] + arguments).map { strdup($0) } + [nil]
        var envp = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var child = pid_t()
        let code = Self.starting.withLock { _ in
            posix_spawnp(&child, program, &actions, &attributes, &argv, &envp)
        }
        if pipeEnds[0] >= 0 { close(pipeEnds[0]) }
        inputDescriptor = pipeEnds[1]
        id = child
        guard code == 0 else {
            closeInput()
            throw SpawnError(program: program, code: code)
        }
        Thread.detachNewThread { [self] in
            while waitpid(id, &status, 0) < 0 && errno == EINTR {}
            ended.signal()
        }
    }

    deinit { closeInput() }

    /// Starts a process and waits for its end.
    static func run(
        _ program: String, _ arguments: [String], name: String, in scratch: Scratch, input: Input = .nothing,
        environment: [String: String] = [:], seconds: Double = 120
    ) throws -> Finished {
        let child = try Child(
            program, arguments, name: name, in: scratch, input: input, environment: environment)
        let ending = child.wait(seconds: seconds)
        return Finished(ending: ending, output: child.output, errors: child.errors)
    }

    /// The bytes written to standard output so far.
    var output: String { (try? String(decoding: Data(contentsOf: outputFile), as: UTF8.self)) ?? "" }

    /// The bytes written to standard error so far.
    var errorsWithTimes: String { (try? String(decoding: Data(contentsOf: errorFile), as: UTF8.self)) ?? "" }

    /// The bytes written to standard error, without the times at the beginning of lines.
    var errors: String { errorsWithTimes.replacing(#/(?m)^\d{4}-\d\d-\d\dT[\d:.]+Z /#, with: "") }

    func send(signal: Int32) { kill(id, signal) }

    func closeInput() {
        if inputDescriptor >= 0 { close(inputDescriptor) }
        inputDescriptor = -1
    }

    /// Writes to the standard input of the process, and waits while the pipe is full.
    func write(_ text: String) {
        var rest = Substring(text).utf8
        while !rest.isEmpty {
            let count = Array(rest.prefix(32_768)).withUnsafeBytes {
                Foundation.write(inputDescriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits for the end of the process. If it does not end before the deadline, it is killed.
    func wait(seconds: Double) -> Ending {
        defer { expectNoSecrets() }
        var inTime = true
        if ended.wait(timeout: .now() + seconds) == .timedOut {
            inTime = false
            kill(id, SIGKILL)
            ended.wait()
        }
        ended.signal()
        guard inTime else { return .tookTooLong }
        let signal = status & 0x7f
        return signal == 0 ? .exited((status >> 8) & 0xff) : .killed(bySignal: signal)
    }

    /// Checks that the command wrote no secret.
    private func expectNoSecrets() {
        guard isCommand else { return }
        let keys = Secrets.keys(in: scratch.directory)
        let found =
            Secrets.found(in: output, keys: keys, isShown: showsRows).filter { !makesToken || $0 != "a provider token" }
            + Secrets.found(in: errors, keys: keys)
        if !found.isEmpty { Issue.record("the output holds \(found.joined(separator: ", "))") }
    }

    /// Whether the process has ended.
    var isOver: Bool {
        guard ended.wait(timeout: .now()) == .success else { return false }
        ended.signal()
        return true
    }

    /// Sends `signal` to the process and waits for its end.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM, seconds: Double = 60) -> Ending {
        if !isOver { send(signal: signal) }
        return wait(seconds: seconds)
    }
}

/// A process that has ended.
struct Finished: CustomStringConvertible {
    let ending: Child.Ending
    let output: String
    let errors: String

    var outputLines: [Substring] { output.split(separator: "\n") }

    var description: String {
        "\(ending)\n--- standard output\n\(output.suffix(4000))\n--- standard error\n\(errors.suffix(4000))"
    }
}
