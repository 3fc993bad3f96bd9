import APNSBatch
import ArgumentParser
import CAPNSProcess
import Foundation

/// The codes that a scheduler sees; those above 63 are of sysexits.h.
enum ExitStatus {
    static let someRowsLeft = ExitCode(2)
    static let usage = ExitCode(64)
    static let unavailable = ExitCode(69)
    /// The machine lacks something: threads, memory, descriptors, an event loop.
    static let system = ExitCode(Int32(APNS_PROCESS_EXIT_SYSTEM))
    static let interrupted = ExitCode(75)

    /// - Parameter isPrinted: the account of the run could be written to standard output. It stands in summary.json too, but
    ///   who reads the output must not take its loss for a success.
    static func of(_ summary: CampaignSummary, isPrinted: Bool) -> ExitCode {
        summary.exitCode == 0 && !isPrinted ? interrupted : ExitCode(summary.exitCode)
    }

    /// Of a check that ended early.
    static func whileChecking(_ kind: CampaignError.Kind) -> ExitCode {
        switch kind {
        case .results: interrupted
        case .system: system
        default: usage
        }
    }

    /// Of a campaign that did not start.
    static func beforeSending(_ kind: CampaignError.Kind) -> ExitCode {
        switch kind {
        case .configuration, .input, .results, .passphraseNeeded: usage
        case .system: system
        default: unavailable
        }
    }
}

/// Runs `body`; what goes wrong becomes a line on standard error and an exit code.
///
/// - Parameter located: a message with the place that it is about.
func reporting<T>(_ located: (String) -> String = { $0 }, _ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch {
        throw reported(error, located)
    }
}

/// The exit code of an error, which is told on standard error.
func reported(_ error: any Error, _ located: (String) -> String = { $0 }) -> any Error {
    let status: ExitCode
    switch error {
    case let error as CampaignError: status = ExitStatus.beforeSending(error.kind)
    case is UsageError: status = ExitStatus.usage
    case is SystemError: status = ExitStatus.system
    case let error as ChannelError: status = error.kind == .configuration ? ExitStatus.usage : ExitStatus.unavailable
    default: return error
    }
    complainOfFailure(located("\(error)"))
    if let remedy = (error as? ChannelError)?.remedy { complain(remedy) }
    return status
}

/// The machine refused something; nothing was sent.
struct SystemError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A wrong option or campaign file; nothing was sent.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Standard output, which may be a full disk or a pipe that nobody reads any more.
enum Output {
    /// Whether all that was printed could be written; says so on standard error if not.
    static func isComplete() -> Bool {
        guard fflush(nil) != 0 else { return true }
        complainOfFailure("standard output: \(String(cString: strerror(errno)))")
        return false
    }
}
