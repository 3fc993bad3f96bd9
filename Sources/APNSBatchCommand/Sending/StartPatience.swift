import APNSBatch
import ArgumentParser

/// How long a start waits for what passes by itself, and for other processes.
struct StartPatience {
    private let lockSeconds: UInt64
    private let lockEnd: ContinuousClock.Instant
    private let inputSeconds: UInt64
    private let inputEnd: ContinuousClock.Instant
    private let output: OutputArguments
    private var said: String?
    /// The time between two attempts: it grows if each of them starts a program or asks a server.
    private var between = Duration.seconds(1)
    private let growth: Int

    private static let longestBetween = Duration.seconds(60)

    /// - Parameter lock: How long to wait while another process works on the run, in seconds.
    init(_ call: CampaignCall, lock: UInt64, _ output: OutputArguments) throws {
        let given = call.settings.inputPatience.flatMap(CampaignSettings.seconds) ?? 0
        // What was read of a stream does not come again.
        inputSeconds = call.settings.readsStream ? 0 : given
        growth = call.settings.input == nil ? 2 : 1
        (lockSeconds, self.output) = (lock, output)
        (lockEnd, inputEnd) = (.now + .seconds(lock), .now + .seconds(inputSeconds))
    }

    /// Waits a moment for another process; throws if it has taken too long.
    mutating func wait(for holder: String) async throws {
        guard ContinuousClock.now < lockEnd else {
            complainOfFailure(holder)
            throw ExitStatus.interrupted
        }
        try await pause(.milliseconds(500), "\(holder); waiting for its end, up to \(lockSeconds) seconds")
    }

    /// Waits a moment if the cause of an error may pass by itself. Returns false if it may not, or has taken too long.
    mutating func waits(for error: any Error) async throws -> Bool {
        let mayPass = (error as? StartRefusal)?.mayPass ?? (ExitStatus.of(error) == ExitStatus.interrupted)
        guard mayPass, ContinuousClock.now < inputEnd else { return false }
        try await pause(min(between, inputEnd - .now), "\(error); waiting, up to \(inputSeconds) seconds")
        between = min(between * growth, Self.longestBetween)
        return true
    }

    /// SIGINT and SIGTERM end the process here: they have no handler before a run begins.
    private mutating func pause(_ time: Duration, _ text: String) async throws {
        if said != text {
            output.say(text)
            ServiceManager.shared.ready(text)
            said = text
        }
        ServiceManager.shared.waits()
        try await Task.sleep(for: time)
    }
}

/// Why a start sends nothing, as the history of the campaign has it.
struct StartRefusal: Error, CustomStringConvertible {
    let description: String
    /// Whether it may pass by itself.
    let mayPass: Bool
    let status: ExitCode

    /// Something is not there that may come.
    init(absent description: String) {
        (self.description, mayPass, status) = (description, true, ExitStatus.interrupted)
    }

    /// Another start of the command may succeed, but this one cannot.
    init(once description: String) {
        (self.description, mayPass, status) = (description, false, ExitStatus.interrupted)
    }

    init(_ decision: CampaignBook.Decision) {
        description = CampaignBook.Refusal(decision).description
        switch decision {
        case .busy, .wait(.absent): (mayPass, status) = (true, ExitStatus.interrupted)
        // Another export may come. If none does, it is unknown whether this one was meant.
        case .wait: (mayPass, status) = (true, ExitStatus.usage)
        default: (mayPass, status) = (false, ExitStatus.usage)
        }
    }
}
