import APNSBatch
import APNSBatchBasics
import APNSBatchModel

extension RunReport {
    /// A part of a distributed campaign: one of the files of its rows, with a run directory of its own.
    public struct PartLine: Sendable, Equatable, RowsByOutcome {
        /// Its number, from which its directory follows.
        public var part: Int
        /// The number of its rows, as the manifest has it.
        public var rows: UInt64
        /// Those of its rows that have a line in its `results.csv`, by outcome, without requests and reasons.
        public var totals = RunTotals()
        /// The number of its rows without a line in its `results.csv`.
        public var left: UInt64
        public var state: State
        /// The verdict on its run, or one sentence like it if its run has none.
        public var verdict: String
        /// Why it has failed; nil if it has not.
        public var cause: String?

        /// How far a part is.
        public enum State: String, Sendable, Codable, CaseIterable {
            case complete
            case interrupted
            case failed
            /// Its last process was killed, so that there is no summary of it. All its rows count as left.
            case killed
            /// Its run directory cannot be read. All its rows count as left.
            case damaged
            /// Its run has more rows than the manifest, or is complete with fewer.
            case wrongRows = "wrong_rows"
            /// It has no run directory, or one in which nothing was sent.
            case notBegun = "not_begun"

            /// The state in words.
            var words: String { rawValue.replacing("_", with: " ") }
        }

        init(_ part: Int, rows: UInt64, _ state: State, verdict: String, cause: String? = nil) {
            (self.part, self.rows, left, self.state) = (part, rows, rows, state)
            (self.verdict, self.cause) = (verdict, cause)
        }

        /// The run directory of a part, below that of the campaign.
        static func directory(of part: Int, in directory: String) -> String {
            let digits = "\(part)"
            let zeros = String(repeating: "0", count: max(0, 5 - digits.count))
            return "\(directory)/parts/\(zeros)\(digits)"
        }

        /// The verdict after its first word.
        var sentence: String { String(verdict.drop { $0 != ":" }.dropFirst().drop { $0 == " " }) }

        /// Whether the sums of the campaign have the counts of the part.
        var isCounted: Bool {
            switch state {
            case .complete, .interrupted, .failed, .wrongRows: true
            case .killed, .damaged, .notBegun: false
            }
        }

        /// Whether it did not end as it should, and not only because it was stopped or not begun.
        var hasFailed: Bool {
            switch state {
            case .failed, .damaged, .wrongRows: true
            case .complete, .interrupted, .killed, .notBegun: false
            }
        }
    }
}

extension RunReport.PartLine {
    /// The line of a part whose last process ended in order.
    init(_ part: Int, rows: UInt64, _ summary: CampaignSummary) {
        self.init(
            part, rows: rows, Self.state(summary, rows: rows), verdict: summary.verdict, cause: summary.cause)
        totals = summary.totals.withoutRequests
        left = rows - min(rows, summary.rows)
        if state == .wrongRows {
            let cause =
                "its run has \(summary.rows.grouped) rows, and manifest.json has \(rows.grouped): "
                + "run and manifest do not belong together"
            (verdict, self.cause) = ("FAILED: \(cause)", cause)
        }
    }

    private static func state(_ summary: CampaignSummary, rows: UInt64) -> State {
        if summary.rows > rows { return .wrongRows }
        switch summary.ending {
        case .complete: return summary.rows == rows ? .complete : .wrongRows
        case .interrupted: return .interrupted
        default: return .failed
        }
    }
}

extension RunReport.PartLine: Codable {
    private enum Key: String, CodingKey { case part, rows, left, state, verdict, cause }

    /// Reads a line. An outcome without a member has no rows.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        self.init(
            try members.decode(Int.self, forKey: .part), rows: try members.decode(UInt64.self, forKey: .rows),
            try members.decode(State.self, forKey: .state), verdict: try members.decode(String.self, forKey: .verdict),
            cause: try members.decodeIfPresent(String.self, forKey: .cause))
        totals = try RunTotals(rowsFrom: decoder)
        left = try members.decode(UInt64.self, forKey: .left)
    }

    /// Writes a line: the rows by the names of the outcomes, and the others beside them.
    public func encode(to encoder: any Encoder) throws {
        try totals.encodeOutcomes(to: encoder)
        var members = encoder.container(keyedBy: Key.self)
        try members.encode(part, forKey: .part)
        try members.encode(rows, forKey: .rows)
        try members.encode(left, forKey: .left)
        try members.encode(state, forKey: .state)
        try members.encode(verdict, forKey: .verdict)
        try members.encodeIfPresent(cause, forKey: .cause)
    }
}
