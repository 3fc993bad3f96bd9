import APNSBatch
import APNSBatchBasics
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

    /// Runs the program to its end. Standard input is /dev/null.
    ///
    /// - Parameter tell: Is called with each line that the program writes, printable.
    /// - Throws: `SystemError` if it cannot be started.
    func run(_ tell: @escaping (String) -> Void) async throws -> Ending {
        let null = try Self.null(O_RDONLY)
        let output = ProgramOutput(tell)
        guard output.writer >= 0 else { throw Self.failure(EMFILE) }
        let process = try start(input: null.descriptor, output: output.writer, errors: output.writer)
        output.closeWriter()
        defer { output.finish() }
        return await end(of: process) { output.pass() }
    }

    /// Runs the program with an input, and returns what it wrote to standard output. What it writes to standard error is lost.
    ///
    /// - Throws: `SystemError` if it cannot be started.
    func run(input: String) async throws -> (ending: Ending, output: String) {
        // Files in memory need no thread that writes and reads while the program runs.
        let (source, sink) = (apns_process_memory_file(), apns_process_memory_file())
        defer { [source, sink].forEach { close($0) } }
        let text = Array(input.utf8)
        guard sink >= 0, pwrite(source, text, text.count, 0) == text.count else { throw Self.failure(errno) }
        let errors = try Self.null(O_WRONLY)
        let ending = try await end(of: start(input: source, output: sink, errors: errors.descriptor)) {}
        return (ending, Self.text(of: sink))
    }

    /// Runs the program to its end, and returns what it wrote to standard output, at most 4 KiB. Standard input is /dev/null. The thread waits.
    ///
    /// - Throws: `SystemError` if it cannot be started, or has not ended with exit code 0.
    func output() throws -> String {
        let sink = apns_process_memory_file()
        defer { close(sink) }
        guard sink >= 0 else { throw Self.failure(errno) }
        let null = try Self.null(O_RDWR)
        let process = try start(input: null.descriptor, output: sink, errors: null.descriptor)
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            switch process.ending() {
            case .exited(0)?: return Self.text(of: sink)
            case .exited(let code)?: throw SystemError("ended with exit code \(code)")
            case .signaled(let signal)?: throw SystemError("was ended by signal \(signal)")
            case nil: usleep(2000)
            }
        }
        process.kill()
        throw SystemError("did not end within \(patience.components.seconds) s")
    }

    private static func text(of file: Int32) -> String {
        var output = [UInt8](repeating: 0, count: 4096)
        let count = pread(file, &output, output.count, 0)
        return String(decoding: output.prefix(max(0, count)), as: UTF8.self)
    }

    private static func null(_ flags: Int32) throws -> OpenFile {
        do {
            return try OpenFile("/dev/null", flags, .device)
        } catch {
            throw SystemError("/dev/null: \(error)")
        }
    }

    private static func failure(_ code: Int32) -> SystemError {
        SystemError("cannot be started: \(systemMessage(code))")
    }

    private func start(input: Int32, output: Int32, errors: Int32) throws -> ChildProcess {
        do {
            return try ChildProcess(arguments, environment: environment, input: input, output: output, errors: errors)
        } catch {
            throw SystemError("\(error)")
        }
    }

    /// - Parameter look: Is called again and again while the program runs.
    private func end(of process: ChildProcess, _ look: () -> Void) async -> Ending {
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            look()
            switch process.ending() {
            case .exited(let code)?: return .exited(code)
            case .signaled(let signal)?: return .signaled(signal)
            case nil: try? await Task.sleep(for: .milliseconds(20))
            }
        }
        process.kill()
        return .killedAfterPatience
    }
}
