import APNSBatch
import ArgumentParser

/// A start that is refused, as far as its settings can be read: its campaign, and the place of its history.
struct RefusedCall {
    private let name: String
    private let directory: String
    private let destination: Campaign.Destination?
    private let topic: String?

    /// Nil for a call without a history or a name.
    init?(_ call: CampaignCall) {
        guard call.keepsHistory, let directory = call.settings.stateDir ?? call.nights else { return nil }
        self.init(call.settings, name: call.name, in: directory)
    }

    /// A call whose campaign file has faults. Nil if its readable part does not contain where the history is.
    private init?(_ flags: CampaignSettings, file path: String) {
        guard let settings = CampaignFile.readable(path).map({ flags.over($0) }) else { return nil }
        let nights = settings.runDir.flatMap { _ in try? settings.nightsDirectory(file: path) }
        guard let directory = settings.stateDir ?? nights else { return nil }
        self.init(settings, name: try? settings.campaignName(file: path), in: directory)
    }

    private init?(_ settings: CampaignSettings, name: String?, in directory: String) {
        guard let name, settings.to != "simulator" else { return nil }
        (self.name, self.directory, topic) = (name, directory, settings.topic)
        destination = settings.to.flatMap { try? CampaignSettings.destination($0) }
    }

    /// Adds the start to the history, with the last message. A failure is only a warning.
    func note(_ status: ExitCode) {
        guard let reason = Console.shared.lastFailure else { return }
        do {
            try RunHistory(directory).note(
                refused: reason, exitCode: status.rawValue, of: name, to: destination, topic: topic)
        } catch {
            complain("warning: it is not in the history that this start was refused: \(error)")
        }
    }

    /// Runs `body`, which reads the settings of a call. If they are refused, the history gets a line.
    static func noting<T>(
        _ flags: CampaignSettings, file: String?, isPart: Bool, _ body: () throws -> T
    ) throws -> T {
        do {
            return try reporting { try body() }
        } catch let status as ExitCode {
            if let file, !isPart { RefusedCall(flags, file: file)?.note(status) }
            throw status
        }
    }
}
