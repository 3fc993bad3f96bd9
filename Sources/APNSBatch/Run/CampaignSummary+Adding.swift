import APNSBatchModel

extension CampaignSummary {
    /// Adds the counts of a part.
    mutating func add(_ part: CampaignSummary) {
        totals += part.totals
        sessions &+= part.sessions
        if let killed = part.killedSessions { killedSessions = (killedSessions ?? 0) &+ killed }
        allSessions.add(part.allSessions)
        lastSession.add(part.lastSession)
        if let breakdowns = part.breakdowns { self.breakdowns = (self.breakdowns ?? []).adding(breakdowns) }
        for (rule, rows) in part.invalidRules where invalidRules[rule] != nil || invalidRules.count < causesMax {
            invalidRules[rule, default: InvalidRows(rows: 0, places: [])].add(rows)
        }
    }
}

extension CampaignSummary.InvalidRows {
    private static let placesMax = 3

    fileprivate mutating func add(_ part: Self) {
        rows &+= part.rows
        places += part.places.prefix(Self.placesMax - places.count)
    }
}

extension CampaignSummary.Work {
    static var none: Self { Self(0, 0, SessionFigures()) }

    /// Adds the counts of a part; not its times.
    fileprivate mutating func add(_ part: Self) {
        rows &+= part.rows
        accepted &+= part.accepted
        requests &+= part.requests
        connectionsOpened &+= part.connectionsOpened
        connectionsEnded.add(part.connectionsEnded, most: causesMax)
        retries.add(part.retries, most: causesMax)
    }

    /// Sets the times of the work.
    mutating func set(seconds: Double, _ answers: AnswerBinSum) {
        elapsedSeconds = seconds
        acceptedPerSecond = seconds > 0 ? Double(accepted) / seconds : 0
        (answerTimes, answerBins) = (answers.times, answers.bins)
    }
}

/// The maximum number of different causes that are counted; the others are counted together.
private let causesMax = 256
