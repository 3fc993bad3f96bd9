import APNSBatchBasics
import APNSBatchModel
import APNSBatchRows

/// What a campaign requires of its input before the first push.
extension InputReader {
    /// Throws if the input does not meet a requirement, or is not a file whose rows can be counted. Reads the file only as far as this takes.
    package static func requireRows(
        _ campaign: Campaign, of input: RunInput, _ judge: ExpectationJudge
    ) throws(CampaignError) {
        try require(RowRequirement(campaign, of: input, judge), campaign, of: input)
    }

    package static func require(
        _ requirement: RowRequirement?, _ campaign: Campaign, of input: RunInput
    ) throws(CampaignError) {
        guard let requirement else { return }
        let rows = try countRows(campaign, of: input, upTo: requirement.enough, for: requirement.name)
        if let unmet = requirement.unmet(rows: rows) { throw unmet }
    }

    /// - Parameters:
    ///   - enough: The number of rows at which counting may end; nil to count all.
    ///   - requirement: The requirement that needs the number, for messages.
    private static func countRows(
        _ campaign: Campaign, of input: RunInput, upTo enough: UInt64?, for requirement: String
    ) throws(CampaignError) -> UInt64 {
        let uncountable = CampaignError(
            .configuration,
            "\(requirement): \(input.name) is not a file, and only the rows of a file can be counted before any is "
                + "sent")
        guard let counter = try counter(campaign, of: input) else { throw uncountable }
        return try counter.countRows(upTo: enough)
    }

    /// A reader beside that of the run; nil unless the input is a file that can be read again.
    static func counter(_ campaign: Campaign, of input: RunInput) throws(CampaignError) -> InputReader? {
        guard input.isFile else { return nil }
        let counter = try InputReader(campaign, input: input, lanes: 1, looks: false)
        return counter.isRepeatable ? counter : nil
    }

    func countRows(upTo enough: UInt64? = nil) throws(CampaignError) -> UInt64 {
        var rows: UInt64 = 0
        while rows < enough ?? .max, let chunk = try nextChunk() {
            rows += UInt64(chunk.rowCount)
            chunk.recycle()
        }
        return rows
    }

    /// Throws if the input is a packed file that cannot be unpacked to its end, such as one that is cut off, because the program that packed it
    /// has died. Its rest could not be sent later: a whole file is another one. Unpacks the whole file.
    package static func requireWhole(_ campaign: Campaign, of input: RunInput) throws(CampaignError) {
        guard !input.isCopy, let counter = try counter(campaign, of: input), counter.reader.packing != nil else {
            return
        }
        do throws(InputError) {
            _ = try counter.reader.checksum(of: 0..<UInt64.max)
        } catch {
            let found = counter.explain(error)
            throw CampaignError(found.code, "\(found.description); nothing was sent", cause: error)
        }
    }

    /// Throws if the input was last modified longer ago than the campaign allows, or has no time of modification.
    ///
    /// - Parameter now: Seconds since 1970-01-01 00:00 UTC.
    package static func requireFreshness(
        _ campaign: Campaign, of input: RunInput, now: UInt64
    ) throws(CampaignError) {
        guard let limit = campaign.inputAgeLimit?.seconds else { return }
        let name = input.name
        guard input.hasAge,
            let modified = try InputReader(campaign, input: input, lanes: 1, looks: false).reader.modified
        else {
            throw CampaignError(
                .configuration, "require fresh: \(name) is not a file, and only a file has a time of modification")
        }
        if let age = excess(of: modified, name: name, limit: limit, now: now) {
            throw CampaignError(.configuration, "require fresh: \(age); nothing was sent", cause: OldInput())
        }
    }

    /// How far the clock of a file server may be ahead, in seconds.
    private static let clockDifference: UInt64 = 300

    /// Says that an input is too old, or from the future; nil if it is neither. All times in seconds.
    package static func excess(of modified: UInt64, name: String, limit: UInt64, now: UInt64) -> String? {
        if modified > now, modified - now > Self.clockDifference {
            return "\(name) was last modified at \(Timestamp.text(Int64(clamping: modified))), which is "
                + "\(ElapsedTime.text(Double(modified - now))) from now: set the clock, or the time of the file"
        }
        let age = now - min(now, modified)
        guard age > limit else { return nil }
        return "\(name) was last modified at \(Timestamp.text(Int64(clamping: modified))), "
            + "\(ElapsedTime.text(Double(age))) ago, and may be \(ElapsedTime.text(Double(limit))) old"
    }
}

/// The input is that of an earlier time; a newer one may come.
private struct OldInput: PassingFailure { var mayPass: Bool { true } }

/// What a campaign requires of the number of its rows: ``Campaign/minRows``, and its expectations about rows.
package struct RowRequirement: Sendable {
    private let minimum: UInt64?
    private let judge: ExpectationJudge
    private let input: String
    /// The first requirement, for messages.
    let name: String

    /// Returns nil if there is none.
    package init?(_ campaign: Campaign, of input: RunInput, _ judge: ExpectationJudge) {
        guard let name = campaign.minRows.map({ _ in "min-rows" }) ?? judge.ofRows.first.map({ "expect: \($0)" })
        else { return nil }
        (minimum, self.judge, self.input, self.name) = (campaign.minRows, judge, input.name, name)
    }

    /// The number of rows at which counting may end; nil if all must be counted.
    var enough: UInt64? { judge.rowsThatSuffice.map { max($0, minimum ?? 0) } }

    /// Returns the error of an input that has this many rows; nil if it meets the requirement.
    package func unmet(rows: UInt64) -> CampaignError? {
        if let minimum, rows < minimum {
            return CampaignError(
                .configuration, "\(input): expected at least \(minimum) rows, found \(rows); nothing was sent")
        }
        return judge.unmet(rows: rows).map {
            CampaignError(.configuration, "expect: \(input): \($0.sentence); nothing was sent")
        }
    }
}
