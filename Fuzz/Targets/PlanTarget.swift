import APNSBatchPlanning
import APNSBatchRecords
import CAPNSCommon

/// A plan as somebody's disk gives it back. The first byte says whether the sums of its records are made right, so that what
/// stands in them is read. Whatever it holds, it is refused, or its rows follow each other, and written again it is the same file.
@Sendable func fuzzPlan(_ bytes: UnsafeRawBufferPointer) {
    guard let choice = bytes.first else { return }
    var plan = Array(bytes.dropFirst())
    if choice & 1 == 0 { plan.withUnsafeMutableBytes { mendPlanSums($0) } }
    _ = try? PlanReader.prove(LedgerBytes(plan), PlanSeal(bytes: UInt64(plan.count), sum: 4711))
    guard let read = readPlan(plan) else { return }
    let rows = read.ranges.reduce(0) { $0 + UInt64($1.facts.rows) }
    precondition(rows == read.facts.rows, "other rows than those of its ranges")
    precondition(written(read) == plan, "written again, it is another file")
}

private struct ReadPlan {
    var header: PlanHeader
    var ranges: [PlanRange] = []
    var facts: PlanFacts
}

private func readPlan(_ bytes: [UInt8]) -> ReadPlan? {
    guard var reader = try? PlanReader(LedgerBytes(bytes)) else { return nil }
    var ranges: [PlanRange] = []
    do {
        while let range = try reader.next() { ranges.append(range) }
    } catch {
        return nil
    }
    return reader.facts.map { ReadPlan(header: reader.header, ranges: ranges, facts: $0) }
}

private func written(_ plan: ReadPlan) -> [UInt8] {
    let bytes = CollectedBytes()
    guard var writer = try? PlanWriter(bytes, plan.header) else { return [] }
    for range in plan.ranges { try? writer.append(range) }
    _ = try? writer.finish(duplicates: plan.facts.duplicates)
    return bytes.bytes
}

/// Gives all records that lie one behind the other the sums that they should have: each has 16 bytes, of which the second four are
/// the length of the body, and the third the sum of the first eight and the body.
private func mendPlanSums(_ plan: UnsafeMutableRawBufferPointer) {
    var record = plan[...]
    while record.count >= 16 {
        let bytes = UnsafeMutableRawBufferPointer(rebasing: record)
        let base = bytes.baseAddress!
        let length = Int(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
        guard 16 + length <= bytes.count else { return }
        let sum = apns_crc32c(apns_crc32c(0, base, 8), base + 16, length)
        base.storeBytes(of: sum.littleEndian, toByteOffset: 8, as: UInt32.self)
        record = record.dropFirst((16 + length + 7) & ~7)
    }
}
