import APNSBatch
import APNSBatchBasics
import APNSBatchModel

/// Further remarks about the rows and the figures, as sentences.
extension RunReport {
    var remarks: [String] {
        [repetitions, duplicates, unusualTokens, lostFigures].compactMap(\.self)
    }

    /// Rows that may have arrived twice.
    private var repetitions: String? {
        guard summary.resent > 0 else { return nil }
        let one = summary.resent == 1
        return
            "\(summary.resent.grouped) row\(one ? " was" : "s were") sent again although an earlier request may have arrived, so that "
            + "\(one ? "it" : "they") may have arrived twice."
    }

    private var duplicates: String? { summary.lastSession.duplicateTokens.map { sentence($0.description) } }

    private var unusualTokens: String? { summary.lastSession.unusualTokens.map { sentence($0.description) } }

    /// A session only has the tokens of the rows that it took.
    private func sentence(_ found: String) -> String {
        let text = (found.first.map { String($0).uppercased() } ?? "") + found.dropFirst()
        return summary.sessions > 1 && parts == nil ? "\(text) (of the rows of the last session)." : "\(text)."
    }

    /// What is not known because processes were killed.
    private var lostFigures: String? {
        guard let killed = summary.killedSessions, killed > 0 else { return nil }
        let sessions =
            "\(UInt64(killed).grouped) of \(UInt64(summary.sessions).grouped) session\(summary.sessions == 1 ? "" : "s")"
        let answers = answersCounted.map { counted, all in
            " The times of answers are those of \(counted.grouped) of at least \(all.grouped) answers."
        }
        return
            "\(sessions) \(killed == 1 ? "was" : "were") killed. The account of the rows is complete; requests, retries, ends of connections and "
            + "times of answers from the last moments of such a session are not counted.\(answers ?? "")"
    }

    /// The answers that have times, and those that there were at least; nil if all have.
    private var answersCounted: (UInt64, UInt64)? {
        let counted = summary.allSessions.answerTimes?.samples ?? 0
        let all = summary.rows { $0.arrival == .answered }
        return counted < all ? (counted, all) : nil
    }
}
