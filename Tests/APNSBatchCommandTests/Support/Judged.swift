import APNSBatch
import APNSBatchSimulator
import ArgumentParser

@testable import APNSBatchCommand

/// What the command says of arguments or settings, and its exit code, as far as it judges them before anything is sent, in this process.
struct Judged: CustomStringConvertible {
    /// What is done with a campaign.
    enum Use {
        /// As by `render`, which needs no credentials.
        case showing
        /// As by `send`, until rows are read, and without a simulator that listens.
        case sending
    }

    private(set) var lines: [String] = []
    private(set) var code: Int32 = 0

    var text: String { lines.joined(separator: "\n") }
    var description: String { "exit code \(code): \(text)" }

    /// Judges all arguments of a call. In a debug build the parser needs a quarter of a second for them.
    init(_ arguments: [String]) {
        self.init {
            guard case .run(let command) = try ApnsBatch.Request(arguments) else { return Judged() }
            if let simulate = command as? Simulate { _ = try Simulator(try simulate.configuration()) }
            guard let render = command as? Render else { return Judged() }
            try render.checkRows()
            return Self.prepared(
                try CampaignCall(flags: render.flags.settings, file: render.campaign), for: .showing)
        }
    }

    /// Judges the flags of a campaign, which the parser reads.
    ///
    /// - Parameter settings: other flags, by the names of their settings.
    init(_ use: Use, flags: [String], _ settings: [String: SettingValue]) {
        self.init {
            let given = try CampaignFlags.parse(NegativeNumbers.joined(flags)).settings
            let all = CampaignSettings(settings.merging(given.values) { $1 })
            return Self.prepared(try CampaignCall(flags: all, file: nil), for: use)
        }
    }

    /// Judges a campaign file, with flags by the names of their settings.
    init(_ use: Use, file: String, _ settings: [String: SettingValue]) {
        self.init { Self.prepared(try CampaignCall(flags: CampaignSettings(settings), file: file), for: use) }
    }

    /// Judges a campaign file that is copied for other machines.
    init(copying file: String, without: [String] = [], columns: [String]? = nil, into directory: String) {
        self.init {
            let names = without.compactMap { key in Setting.all.first { $0.key == key }?.name }
            let call = try CampaignCall(flags: CampaignSettings(), file: file, without: names)
            return Judged(call.located) {
                _ = try CampaignCopy(of: call, columns: columns, into: directory)
                return Judged()
            }
        }
    }

    private static func prepared(_ call: CampaignCall, for use: Use) -> Judged {
        Judged(call.located) {
            _ = try call.bookRules()
            if use == .sending { _ = try RunHooks(call) }
            let simulator = try EmbeddedSimulator.forRendering(call.settings)
            let input = try call.settings.campaignInput()
            let campaign = try RunArguments(call).campaign(
                call.settings, simulator: simulator, for: use == .sending ? .sending : .showing)
            _ = try CampaignPreview(campaign, input: input)
            return Judged()
        }
    }

    private init() {}

    private init(_ located: (String) -> String = { $0 }, _ body: () throws -> Judged) {
        do {
            self = try body()
        } catch {
            if let complaint = Complaint(error, located) {
                (lines, code) = (complaint.lines, complaint.status.rawValue)
            } else {
                let refusal = ApnsBatch.refusal(error)
                (lines, code) = (refusal.lines, refusal.status.rawValue)
            }
        }
    }
}
