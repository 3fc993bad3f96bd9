import APNSBatchModel

extension CampaignSummary: Codable {
    private enum Key: String, CodingKey {
        case left, sessions, ending, cause, campaign, expectations, verdict, changes, unfinished, breakdowns
        case allSessions = "all_sessions"
        case correctionOf = "correction_of"
        case notSentFile = "not_sent_file"
        case lastSession = "last_session"
        case killedSessions = "killed_sessions"
        case maybeSent = "may_be_sent"
        case notSent = "not_sent"
        case notRead = "not_read"
        case isLeftEstimated = "left_is_estimated"
        case exitCode = "exit_code"
        case invalidRules = "invalid_rules"
    }

    /// Reads the content of a `summary.json`. An outcome without a member has no rows.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        totals = try RunTotals(from: decoder)
        left = try members.decodeIfPresent(UInt64.self, forKey: .left)
        maybeSent = try members.decodeIfPresent(UInt64.self, forKey: .maybeSent)
        notSent = try members.decodeIfPresent(UInt64.self, forKey: .notSent)
        notRead = try members.decodeIfPresent(UInt64.self, forKey: .notRead)
        isLeftEstimated = try members.decode(Bool.self, forKey: .isLeftEstimated)
        sessions = try members.decode(Int.self, forKey: .sessions)
        killedSessions = try members.decodeIfPresent(Int.self, forKey: .killedSessions)
        allSessions = try members.decode(Work.self, forKey: .allSessions)
        lastSession = try members.decode(Work.self, forKey: .lastSession)
        invalidRules = try members.decode([String: InvalidRows].self, forKey: .invalidRules)
        breakdowns = try members.decodeIfPresent([Breakdown].self, forKey: .breakdowns)
        changes = try members.decode([RunChange].self, forKey: .changes)
        ending = try members.decode(Ending.self, forKey: .ending)
        cause = try members.decodeIfPresent(String.self, forKey: .cause)
        exitCode = try members.decode(Int32.self, forKey: .exitCode)
        expectations = try members.decode([JudgedExpectation].self, forKey: .expectations)
        verdict = try members.decode(String.self, forKey: .verdict)
        campaign = try members.decode(Identity.self, forKey: .campaign)
        correctionOf = try members.decodeIfPresent(String.self, forKey: .correctionOf)
        notSentFile = try members.decodeIfPresent(String.self, forKey: .notSentFile)
        unfinished = try members.decodeIfPresent([UnfinishedRun].self, forKey: .unfinished)
    }

    /// Writes the content of `summary.json`: the totals, and the other members beside theirs.
    public func encode(to encoder: any Encoder) throws {
        try totals.encode(to: encoder)
        var members = encoder.container(keyedBy: Key.self)
        try members.encodeIfPresent(left, forKey: .left)
        try members.encodeIfPresent(maybeSent, forKey: .maybeSent)
        try members.encodeIfPresent(notSent, forKey: .notSent)
        try members.encodeIfPresent(notRead, forKey: .notRead)
        try members.encode(isLeftEstimated, forKey: .isLeftEstimated)
        try members.encode(sessions, forKey: .sessions)
        try members.encodeIfPresent(killedSessions, forKey: .killedSessions)
        try members.encode(allSessions, forKey: .allSessions)
        try members.encode(lastSession, forKey: .lastSession)
        try members.encode(invalidRules, forKey: .invalidRules)
        try members.encodeIfPresent(breakdowns, forKey: .breakdowns)
        try members.encode(changes, forKey: .changes)
        try members.encode(ending, forKey: .ending)
        try members.encodeIfPresent(cause, forKey: .cause)
        try members.encode(exitCode, forKey: .exitCode)
        try members.encode(expectations, forKey: .expectations)
        try members.encode(verdict, forKey: .verdict)
        try members.encode(campaign, forKey: .campaign)
        try members.encodeIfPresent(correctionOf, forKey: .correctionOf)
        try members.encodeIfPresent(notSentFile, forKey: .notSentFile)
        try members.encodeIfPresent(unfinished, forKey: .unfinished)
    }
}
