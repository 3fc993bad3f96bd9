import APNSBatchModel
import APNSBatchRows

/// One pass over an input before the first push, for all who need its rows then. It reads as far as they need, at most once to the end, and
/// moves back to the first row.
package struct InputSurvey {
    /// What is asked. Without a question, nothing is read.
    package struct Questions {
        /// What is required of the number of rows.
        package var requirement: RowRequirement?
        /// Judges whether the input is broken as a whole.
        package var judge: InputJudge?
        /// Whether a packed input must be one that can be unpacked to its end. One that is cut off, because the program that packed it has
        /// died, has a rest that could not be sent later: a whole file is another one.
        package var needsEnd = false
        /// Whether all rows are counted, where this is their number; nil if it is not asked for.
        package var counts: ((InputSize) -> Bool)?

        package init() {}

        var isEmpty: Bool { requirement == nil && judge == nil && !needsEnd && counts == nil }
    }

    /// The number of rows, as far as it is known; nil if it was not asked for, or is not known.
    package private(set) var size: InputSize?

    private let reader: InputReader
    private let questions: Questions
    /// The number of rows that were read.
    private var rows: UInt64 = 0
    private var isAtEnd = false
    private var isCounting = false

    /// - Parameter reader: A reader of an input that can be read again, of which no row was taken.
    /// - Throws: `configuration` if the input does not meet a requirement or is broken as a whole, `input` if it cannot be read.
    package init(of reader: InputReader, _ questions: Questions) throws(CampaignError) {
        (self.reader, self.questions) = (reader, questions)
        guard !questions.isEmpty else { return }
        try readRows()
        try readToEnd()
        if let unmet = questions.requirement?.unmet(rows: rows) { throw unmet }
        if let error = questions.judge?.error { throw error }
        try reader.rewind()
    }

    private mutating func readRows() throws(CampaignError) {
        do throws(CampaignError) {
            while wantsRows, try take(reader.nextChunk()) {}
            if isAtEnd { size?.count(rows) }
        } catch {
            if needsEnd, !isAboutQuotes(error) { throw Self.beforeFirst(error) }
            if isAsked { throw error }
            // Who only wants to know how many rows there are goes without: the reader of the rows reports why.
            size = nil
        }
    }

    /// Whether more rows are wanted.
    private var wantsRows: Bool { isAsked || questions.counts != nil && (rows == 0 || isCounting) }

    /// Whether the run depends on further rows.
    private var isAsked: Bool {
        questions.requirement.map { rows < $0.enough ?? .max } ?? false || questions.judge.map { !$0.isEnough } ?? false
    }

    private mutating func take(_ chunk: RowChunk?) -> Bool {
        guard let chunk else {
            isAtEnd = true
            return false
        }
        if let counts = questions.counts, rows == 0 {
            size = InputSize(first: chunk, of: reader)
            isCounting = size.map { !$0.isCounted && counts($0) } ?? false
        }
        rows += UInt64(chunk.rowCount)
        if let judge = questions.judge, !judge.isEnough { judge.look(at: chunk) }
        chunk.recycle()
        return true
    }

    private var needsEnd: Bool { questions.needsEnd && reader.reader.packing != nil }

    /// Unpacks what was not read.
    private func readToEnd() throws(CampaignError) {
        guard needsEnd, !isAtEnd else { return }
        do throws(InputError) {
            try reader.reader.readToEnd()
        } catch {
            throw Self.beforeFirst(reader.explain(error))
        }
    }

    private func isAboutQuotes(_ error: CampaignError) -> Bool {
        if case .quoting? = error.cause as? InputError { true } else { false }
    }

    private static func beforeFirst(_ error: CampaignError) -> CampaignError {
        CampaignError(error.code, "\(error.description); nothing was sent", cause: error.cause)
    }
}

extension InputSize {
    /// Estimates the number of rows by the beginning of an input. Returns nil if it is not a file that can be read again, or cannot be read:
    /// the reader of its rows reports why.
    package init?(_ campaign: Campaign, of input: RunInput) {
        guard input.isFile, let reader = try? InputReader(campaign, input: input, lanes: 1, looks: false),
            reader.isRepeatable
        else { return nil }
        var questions = InputSurvey.Questions()
        questions.counts = { _ in false }
        guard let size = (try? InputSurvey(of: reader, questions))?.size else { return nil }
        self = size
    }
}
