import APNSBatch
import APNSBatchBasics

/// The run directory of a call, and what is known of it: the history of the campaign, and the run that it holds.
struct RunPlace {
    let directory: String
    /// Nil for a campaign without a history.
    let book: CampaignBook?
    /// Nil if the directory holds no run.
    let opening: RunOpening?

    /// - Throws: An error if there is no run directory, or if it holds a run that is not the campaign's.
    init(of call: CampaignCall) throws {
        guard let directory = call.settings.runDir else {
            throw UsageError("no run directory: give run_dir, such as runs/{campaign}/{date}")
        }
        let book = try call.book()
        // With a history, a ledger that is damaged is that of a lost run.
        let opening =
            try book == nil ? RunOpening(ifBegunIn: directory) : RunOpening(ifReadableIn: directory)
        if let opening { try Self.refuseOther(try RunArguments(of: opening), than: call, in: directory) }
        try Self.refuseOther(of: call, hasHistory: book != nil, in: directory)
        (self.directory, self.book, self.opening) = (directory, book, opening)
    }

    /// Throws if the run in the directory is that of another campaign. Campaigns are distinguished by their names, because the
    /// file of a campaign may move.
    private static func refuseOther(_ before: RunArguments, than call: CampaignCall, in directory: String) throws {
        if before.isBroadcast {
            throw UsageError("run directory: \(directory) holds a broadcast; continue it with resume")
        }
        let (its, own) = (try before.name, call.name)
        guard its != own else { return }
        throw UsageError(
            "run directory: \(directory) holds a run of \(shown(its)), and this is \(shown(own)); name another "
                + "directory, or continue that run with resume")
    }

    /// Throws if only one of the call and the run in the directory is a correction.
    private static func refuseOther(of call: CampaignCall, hasHistory: Bool, in directory: String) throws {
        if call.correcting != nil {
            guard hasHistory else {
                throw UsageError("--correction: a run without a history cannot be corrected; give the campaign a name")
            }
        } else if let run = CampaignBook.correctedRun(by: directory) {
            throw UsageError("run directory: \(directory) holds a correction of \(run); continue it with resume")
        }
    }

    private static func shown(_ name: String?) -> String {
        name.map { "the campaign \($0.quoted)" } ?? "a campaign without a name"
    }

    /// The directory of a new run: the one of this night, or, if that has a run, the next one beside it.
    static func free(_ directory: String, _ book: CampaignBook) throws -> String {
        var (path, number) = (directory, 1)
        while try book.isOccupied(path) {
            number += 1
            path = "\(directory)-\(number)"
        }
        return path
    }

    /// Who is working on a run.
    static func worker(of run: RunOpening?) -> String { run?.worker.map { "process \($0)" } ?? "another process" }
}

extension CampaignCall {
    /// The input, for a question to the history. A pattern that matches no file stands for a file of that name, which is not there either.
    func askedInput() throws -> CampaignInput {
        do {
            return try settings.campaignInput()
        } catch let absent as StartRefusal {
            guard let pattern = settings.input else { throw absent }
            return .file(pattern)
        }
    }

    /// Returns the run directory of this night as it was given, and any other one as it is.
    func asGiven(_ path: String) -> String {
        guard let own = settings.runDir, CampaignBook.isSame(own, path) else { return path }
        return own
    }

    /// The campaign without what needs settings that cannot be used: for a trial of the others.
    var usableCampaign: Campaign {
        var campaign = Campaign(destination: .production, topic: settings.topic, providers: [])
        if let destination = try? settings.destination() { campaign.destination = destination }
        for setting in Setting.all {
            // What is wrong with a value was reported before.
            if let value = settings.values[setting.name] { _ = setting.applied(value, to: &campaign) }
        }
        if let name { campaign.name = name }
        campaign.book = try? bookRules()
        return campaign
    }

    /// The campaign as it is sent.
    ///
    /// - Parameter use: What credentials are read for.
    func campaign(
        _ arguments: RunArguments, simulator: EmbeddedSimulator?, for use: CampaignSettings.Use = .sending
    ) throws -> Campaign {
        var campaign = try arguments.campaign(settings, simulator: simulator, for: use)
        if let name { campaign.name = name }
        if !arguments.isBroadcast { campaign.book = try bookRules() }
        campaign.isPart = isOfSeveral
        // Some invalid rows in a small part mean nothing for the whole input.
        let invalidRows = Campaign.CircuitBreaker.invalidRows
        if isOfSeveral, campaign.circuitBreaker.shares[invalidRows] == nil {
            campaign.circuitBreaker.shares[invalidRows] = .never
        }
        return campaign
    }
}
