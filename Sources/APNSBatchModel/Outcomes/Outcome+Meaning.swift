/// What each outcome means for code that handles all of them.
///
/// The compiler asks for a new outcome here, in `Outcome.name`, and in the colours of the report. Also give it a place in
/// `PerOutcome`, a member of ``RowsByOutcome``, and a line in the documents.
extension Outcome {
    struct Meaning {
        /// How far the last request for the row got.
        var arrival: Arrival
        /// The key in JSON of the rows by the reasons of APNs; nil if the row's reason does not come from an answer.
        var reasonsKey: StaticString?
        /// Whether a resumed run may send the row again.
        var canBeReopened = false
        /// Whether the row was not sent because of itself, so that it can be sent corrected.
        var canBeCorrected = false
        /// How many rows end like this in a run that is as expected.
        var share = Share.any
        /// What to do if more or fewer rows end like this than expected; nil if that depends on other figures.
        var advice: Advice?
        /// The next step after a run with such rows, a sentence with `{rows}` for their number; nil if there is none.
        var nextStep: StaticString?
    }

    /// How many rows are expected to end in one way, without an expectation of the campaign.
    enum Share: Sendable {
        case any
        case none
        case some
    }

    /// A piece of a sentence, for a run and for a run in parts.
    package struct Advice: Sendable {
        package let ofRun: StaticString
        package let ofParts: StaticString

        init(_ text: StaticString) { (ofRun, ofParts) = (text, text) }
        init(_ ofRun: StaticString, parts: StaticString) { (self.ofRun, ofParts) = (ofRun, parts) }
    }

    /// Inlined, so that a property costs what a switch of its own would, also for each row.
    @inline(__always)
    private var meaning: Meaning {
        switch self {
        case .accepted: Meaning(arrival: .answered, share: .some)
        case .rejected: Meaning(arrival: .answered, reasonsKey: "reasons")
        case .unavailable:
            Meaning(
                arrival: .answered, reasonsKey: "unavailable_reasons", canBeReopened: true, canBeCorrected: true,
                share: .none,
                advice: Advice(
                    "resume the run with --retry-unavailable to send these rows again",
                    parts: "resume the parts that have them with --retry-unavailable to send these rows again"),
                nextStep: "When APNs has recovered, send {rows} again that ended as unavailable.")
        case .invalid:
            Meaning(
                arrival: .notSent, canBeCorrected: true, share: .none,
                advice: Advice(
                    "correct the rows: invalid_rules in summary.json has the places of the first ones",
                    parts: "correct the rows: invalid_rules in report.json has the places of the first ones"),
                nextStep: "Correct {rows} that break a rule; the places of the first ones are under \"Invalid rows\".")
        case .unknown:
            Meaning(
                arrival: .maybeSent, share: .none,
                advice: Advice(
                    "these rows may have arrived: decide whether to send those again that results.csv lists"),
                nextStep: "Decide about {rows} that may have arrived. These are their lines:")
        case .expired:
            Meaning(
                arrival: .notSent, canBeCorrected: true, share: .none,
                advice: Advice("start earlier, send faster, or allow more time (not_after, expiration)"),
                nextStep: "Start earlier, send faster, or allow more time: {rows} expired.")
        case .suppressed:
            Meaning(
                arrival: .notSent,
                advice: Advice("only and from_row leave these rows out: compare them with the input"))
        }
    }

    /// How far the last request for a row with this outcome got.
    public var arrival: Arrival { meaning.arrival }

    /// Whether rows with this outcome were not sent because of themselves: their lines are in the file that
    /// `CampaignSummary.notSentFile` names, and can be sent corrected.
    public var canBeCorrected: Bool { meaning.canBeCorrected }

    /// Whether the row's reason comes from an answer of APNs.
    package var isAnswered: Bool { meaning.reasonsKey != nil }

    /// The key in JSON of the rows by the reasons of APNs; nil if the row's reason does not come from an answer.
    var reasonsKey: StaticString? { meaning.reasonsKey }

    /// Whether a resumed run may send the row again (``Campaign/retryUnavailable``).
    package var canBeReopened: Bool { meaning.canBeReopened }

    /// How many rows end like this in a run that is as expected.
    var share: Share { meaning.share }

    /// What to do if more or fewer rows end like this than expected; nil if that depends on other figures.
    package var advice: Advice? { meaning.advice }

    /// The next step after a run with rows that ended like this, such as `Start earlier: {rows} expired.`; nil if there is none.
    ///
    /// - Parameter rows: The number of rows in words, such as `1 row`.
    package func nextStep(_ rows: String) -> String? {
        meaning.nextStep.map { step in
            let parts = "\(step)".split(separator: "{rows}", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.joined(separator: rows)
        }
    }
}
