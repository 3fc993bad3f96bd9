import APNSBatch
import APNSBatchBasics
import APNSBatchPostgres
import APNSBatchSimulator
import ArgumentParser
import CAPNSProcess
import Foundation
import Synchronization

/// The exit codes of the command. Those above 63 are from sysexits.h.
enum ExitStatus {
    static let someRowsLeft = ExitCode(2)
    static let usage = ExitCode(64)
    static let unavailable = ExitCode(69)
    /// The machine lacks threads, memory, file descriptors or an event loop.
    static let system = ExitCode(Int32(APNS_PROCESS_EXIT_SYSTEM))
    static let interrupted = ExitCode(75)

    /// Returns the exit code for several problems: what a person must change comes before what passes by itself.
    static func worst(_ codes: [ExitCode]) -> ExitCode {
        [usage, interrupted, system, unavailable, someRowsLeft].first(where: codes.contains) ?? .success
    }

    /// What is wrong, if an error may have several causes that a person must remove; nil for any other error.
    static func faults(of error: any Error) -> [String]? {
        if let error = error as? UsageError { return error.faults }
        return ((error as? CampaignError)?.cause as? CampaignFaults)?.all.map(\.description)
    }

    /// Returns the exit code of a run.
    ///
    /// - Parameter isPrinted: whether the summary could be written to standard output. summary.json holds it too, but a
    ///   reader of the output must not take a missing summary for a success.
    static func of(_ summary: CampaignSummary, isPrinted: Bool) -> ExitCode {
        summary.exitCode == 0 && !isPrinted ? interrupted : ExitCode(summary.exitCode)
    }

    /// Returns the exit code of a check that ended early.
    static func whileChecking(_ error: CampaignError) -> ExitCode {
        if let failure = error.cause as? any SystemFailure, failure.isOfDisk { return interrupted }
        switch error.code {
        case .results: return interrupted
        case .system: return system
        default: return usage
        }
    }

    /// Returns the exit code of an error that has none of its own; nil if it has one.
    static func of(_ error: any Error) -> ExitCode? {
        switch error {
        case let error as CampaignError: beforeSending(error)
        case is SystemError, SimulatorError.system: system
        case let error as any SystemFailure: of(error)
        case is SimulatorError: usage
        case let error as DatabaseError: error.code == .unavailable ? unavailable : usage
        case let error as StartRefusal: error.status
        case let error as ChannelError: error.code == .configuration ? usage : unavailable
        default: nil
        }
    }

    /// Returns the exit code of a failure of the system, wherever it was noticed.
    private static func of(_ failure: any SystemFailure) -> ExitCode {
        failure.mayPass ? interrupted : failure.isOfMeans ? system : usage
    }

    /// Returns the exit code of a campaign that did not start.
    static func beforeSending(_ error: CampaignError) -> ExitCode {
        if let failure = error.cause as? any PassingFailure, failure.mayPass { return interrupted }
        switch error.code {
        case .configuration, .input, .results, .passphraseNeeded: return usage
        case .busy: return interrupted
        case .system: return system
        default: return unavailable
        }
    }
}

/// Runs `body`. An error is reported on standard error and rethrown as an exit code.
///
/// - Parameter located: adds the place that a message is about.
func reporting<T>(_ located: (String) -> String = { $0 }, _ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch {
        throw reported(error, located)
    }
}

/// Runs `body` likewise.
func reporting<T>(_ located: (String) -> String = { $0 }, _ body: () async throws -> T) async throws -> T {
    do {
        return try await body()
    } catch {
        throw reported(error, located)
    }
}

/// Reports an error on standard error and returns its exit code.
func reported(_ error: any Error, _ located: (String) -> String = { $0 }) -> any Error {
    guard let complaint = Complaint(error, located) else { return error }
    Console.shared.failures(complaint.lines)
    if let remedy = complaint.remedy { complain(remedy) }
    return complaint.status
}

/// What is said of an error on standard error, and the exit code.
struct Complaint {
    let lines: [String]
    /// What a person can do about it, if that is known.
    let remedy: String?
    let status: ExitCode

    /// Nil for an error that has an exit code of its own.
    ///
    /// - Parameter located: adds the place that a message is about.
    init?(_ error: any Error, _ located: (String) -> String = { $0 }) {
        guard let status = ExitStatus.of(error) else { return nil }
        self.status = status
        lines =
            ExitStatus.faults(of: error)?.map(located).sorted { $0.compare($1, options: .numeric) == .orderedAscending }
            ?? [located("\(error)")]
        remedy = (error as? ChannelError)?.remedy
    }
}

/// The machine lacks a resource; nothing was sent.
struct SystemError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// An option or the campaign file is wrong, or a file of it cannot be read; nothing was sent.
struct UsageError: SystemFailure, CustomStringConvertible {
    /// What is wrong; several faults are reported line by line.
    let faults: [String]
    let systemCode: Int32?

    var description: String { faults.joined(separator: "; ") }

    init(_ description: String, systemCode: Int32) { (faults, self.systemCode) = ([description], systemCode) }

    /// - Parameter cause: the error that the text is about.
    init(_ description: String, cause: (any Error)? = nil) { self.init(faults: [description], cause: cause) }

    init(faults: [String], cause: (any Error)? = nil) {
        self.faults = faults
        systemCode = (((cause as? CampaignError)?.cause ?? cause) as? any SystemFailure)?.systemCode
    }
}

/// Standard output. Writing to it may fail: the disk may be full, or the reader of a pipe may be gone.
///
/// Everything that is not the content of a file goes through ``lines(_:)`` or ``screen(_:)``.
enum Output {
    /// Writes lines, each of which becomes printable. A document of JSON keeps its meaning.
    static func lines(_ lines: [String]) { for line in lines { print(Printable.text(line)) } }

    /// Writes one line likewise.
    static func line(_ text: String) { lines([text]) }

    /// Writes text in which a terminal finds what it is to obey.
    static func screen(_ text: String) {
        print(text, terminator: "")
        fflush(nil)
    }

    /// Writes bytes without a buffer, so that no copy of a secret stays in memory. Throws an exit code.
    static func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                complainOfFailure(failure(errno))
                throw ExitStatus.interrupted
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns whether all output could be written, and reports an error if not, once.
    static func isComplete() -> Bool {
        let code = fflush(nil) == 0 ? 0 : errno
        guard code != 0 || apns_process_output_failed() else { return true }
        if !isToldOf.exchange(true, ordering: .relaxed) { complainOfFailure(failure(code)) }
        return false
    }

    private static let isToldOf = Atomic(false)

    /// - Parameter code: 0 if the failure was noticed later than it happened.
    private static func failure(_ code: Int32) -> String {
        switch code {
        case 0: "standard output: a part of it could not be written"
        case EBADF: "standard output is closed"
        default: "standard output: \(String(cString: strerror(code)))"
        }
    }
}
