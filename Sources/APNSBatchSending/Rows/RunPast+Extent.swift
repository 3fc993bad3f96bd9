import APNSBatchRecords
import APNSBatchRows

extension RunPast {
    /// What of the input is the campaign's.
    package var extent: CSVExtent? {
        header.inputBytes.map { bytes in
            let end = reading.history.ranges.last.map { $0.facts.offset + UInt64($0.facts.bytes) }
            return CSVExtent(bytes: bytes, endsWhole: end == bytes)
        }
    }
}
