import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending
import Logging

/// A run that can begin: what can fail before its place is taken has been tried. ``take()`` then takes it.
///
/// The steps follow from what each needs. Settings, history and earlier sessions (``RunTerms``) say where the rows are (``RunSource``), the
/// input that is opened there has the columns that the settings are compiled for, and compiled settings can judge the rows.
struct RunPlan {
    let facts: RunFacts
    private let terms: RunTerms
    private let source: RunSource

    init(_ request: RunRequest) throws(CampaignError) {
        terms = try RunTerms(request)
        source = try RunSource(terms, request)
        facts = try source.orRemoved { [terms, source] () throws(CampaignError) in
            let draft = try RunDraft(terms, source, request)
            // Here a plan of all rows can be made: which are suppressed, how many there are. It reads the input that the draft has opened.
            let surveyed = try draft.survey()
            let facts = try draft.facts(surveyed)
            // A run that is resumed has reserved room, which counts as used, and ends in order where that does not suffice.
            try surveyed.room?.require()
            return facts
        }
    }

    /// Takes the place of the run: its directory and ledger, its line in the history, and its share of a limit.
    func take() throws(CampaignError) -> (place: RunPlace, rate: RunRate) {
        try source.orRemoved { () throws(CampaignError) in
            let rate = try RunRate(of: terms.campaign)
            let place: RunPlace
            if let kept = source.kept { place = kept.place } else { place = try RunPlace(terms) }
            try terms.history?.history.prepare()
            if terms.past == nil { try begin(in: place) } else { try resume(in: place) }
            return (place, rate)
        }
    }

    private func begin(in place: RunPlace) throws(CampaignError) {
        let copy = source.input.isCopy ? place.inputCopy : nil
        try facts.history?.begin(
            in: place.directory, ledger: terms.takesDirectory ? place.ledger.stamp?.text : nil,
            start: facts.plan.start, corrected: source.kept?.corrected
        ) { (book) throws(CampaignError) in
            try book.known(source.given, source.kept?.content, copy: copy, opened: copy == nil ? facts.reader : nil)
        }
    }

    private func resume(in place: RunPlace) throws(CampaignError) {
        try facts.history?.resume(
            in: place.directory, start: facts.plan.start, reopening: terms.campaign.retryUnavailable)
    }
}
