import APNSBatchRecords
import CAPNSCommon

/// A timeline as somebody's disk gives it back. The first byte says whether the sums of its records are made right, so that
/// what stands in them is read. Whatever it holds, no more points are read than there are records, and a reader that begins in
/// the middle finds the same last ones.
@Sendable func fuzzTimeline(_ bytes: UnsafeRawBufferPointer) {
    guard let choice = bytes.first else { return }
    var timeline = Array(bytes.dropFirst())
    if choice & 1 == 0 { timeline.withUnsafeMutableBytes { mendTimelineSums($0) } }
    let points = readTimeline(timeline, last: nil)
    precondition(points.count <= timeline.count / 192, "more points than records")
    let last = readTimeline(timeline, last: 2)
    precondition(points.suffix(last.count).elementsEqual(last), "other points from another place on")
}

/// Returns no points for a file that is no timeline.
private func readTimeline(_ bytes: [UInt8], last: Int?) -> [TimelinePoint] {
    guard var reader = try? TimelineReader(LedgerBytes(bytes), name: "run", last: last) else { return [] }
    guard let points = try? reader.read(), let more = try? reader.read() else { return [] }
    precondition(more.isEmpty, "a point was read twice")
    return points
}

/// Gives all records the sums that they should have, as docs/reference/timeline.md says.
private func mendTimelineSums(_ timeline: UnsafeMutableRawBufferPointer) {
    for offset in stride(from: 0, to: timeline.count - 191, by: 192) {
        let record = timeline.baseAddress! + offset
        let sum = apns_crc32c(apns_crc32c(0, record, 4), record + 8, 184)
        record.storeBytes(of: sum.littleEndian, toByteOffset: 4, as: UInt32.self)
    }
}
