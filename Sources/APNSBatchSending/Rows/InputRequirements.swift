import APNSBatchBasics
import APNSBatchModel

/// How old an input may be: ``Campaign/inputAgeLimit``.
package struct AgeRequirement: Sendable {
    /// In seconds, as all times.
    private let limit: UInt64
    private let name: String

    /// Returns nil if there is none.
    ///
    /// - Throws: `configuration` if the input has no time of modification.
    package init?(_ campaign: Campaign, of input: RunInput) throws(CampaignError) {
        guard let limit = campaign.inputAgeLimit?.seconds else { return nil }
        (self.limit, name) = (limit, input.name)
        guard input.hasAge else { throw noAge }
    }

    /// Throws if the input was last modified longer ago, or has no time of modification.
    ///
    /// - Parameters:
    ///   - modified: Seconds since 1970-01-01 00:00 UTC.
    ///   - now: Likewise.
    package func check(_ modified: UInt64?, now: UInt64) throws(CampaignError) {
        guard let modified else { throw noAge }
        guard let age = Self.excess(of: modified, name: name, limit: limit, now: now) else { return }
        throw CampaignError(.configuration, "require fresh: \(age); nothing was sent", cause: OldInput())
    }

    private var noAge: CampaignError {
        CampaignError(
            .configuration, "require fresh: \(name) is not a file, and only a file has a time of modification")
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
    private let name: String

    /// Returns nil if there is none.
    package init?(_ campaign: Campaign, of input: RunInput, _ judge: ExpectationJudge) {
        guard let name = campaign.minRows.map({ _ in "min-rows" }) ?? judge.ofRows.first.map({ "expect: \($0)" })
        else { return nil }
        (minimum, self.judge, self.input, self.name) = (campaign.minRows, judge, input.name, name)
    }

    /// The error of an input whose rows cannot be counted.
    package var uncountable: CampaignError {
        CampaignError(
            .configuration,
            "\(name): \(input) is not a file, and only the rows of a file can be counted before any is sent")
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
