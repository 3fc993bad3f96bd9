import APNSBatchModel
import APNSBatchRows

/// An input that is open. Whoever looks at it before its rows are sent, and the reader of its rows, use the same opening: so all of them see
/// one file, even if another one takes its name meanwhile.
package struct OpenedInput: Sendable {
    package let input: RunInput
    let reader: ChunkReader
    /// Whether an earlier session has decided how much of it belongs to the run.
    let isEarlier: Bool

    /// Opens the input. Nothing is read but the first bytes of a file, which show whether it is packed.
    ///
    /// - Parameters:
    ///   - lanes: The number of lanes. Each may have one chunk in use and one waiting; two more are being filled.
    ///   - group: The number of further buffers, for chunks that are announced together.
    ///   - extent: How much of a file an earlier session took for its input; nil for all that is there.
    package init(
        _ campaign: Campaign, input: RunInput, lanes: Int, group: Int = 0, limits: RowLimits = .standard,
        extent: InputExtent? = nil
    ) throws(CampaignError) {
        try ColumnSource.check(campaign.columns)
        let format = try FormatChoice(of: input, campaign)
        var limits = limits
        if let window = campaign.zstdWindow { limits.zstdWindowLog = window }
        (self.input, isEarlier) = (input, extent != nil)
        do throws(InputError) {
            reader = try ChunkReader(
                input: input.location, format: format, limits: limits,
                buffers: InputReader.buffers(lanes: lanes, group: group), extent: extent)
        } catch {
            throw InputReader.explain(
                error, name: input.name, isCopy: input.isCopy && extent != nil, parts: input.parts)
        }
    }

    /// Whether it is the copy that an earlier session has made.
    var isEarlierCopy: Bool { input.isCopy && isEarlier }

    /// When it was last modified, in seconds since 1970-01-01 00:00 UTC; nil for a pipe.
    package var modified: UInt64? { reader.modified.map { $0 / 1_000_000_000 } }
}
