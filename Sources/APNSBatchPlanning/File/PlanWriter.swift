import APNSBatchBasics
import APNSBatchRecords

/// Writes a plan, in the order of its rows.
package struct PlanWriter: ~Copyable, Sendable {
    private let storage: any AppendFile
    private var facts = PlanFacts()
    private var sum: UInt32 = 0
    private var buffer: [UInt8] = []
    /// The number of bytes that are gathered before they are written.
    private static let bufferBytes = 64 * 1024

    /// - Parameter storage: An empty file.
    package init(_ storage: any AppendFile, _ header: PlanHeader) throws(StorageError) {
        self.storage = storage
        try append(PlanFrame.record(.header, header.body))
    }

    /// Appends the range that follows.
    package mutating func append(_ range: PlanRange) throws(StorageError) {
        precondition(range.facts.firstRow == facts.rows + 1, "a plan has its rows in order")
        try append(PlanFrame.record(.range, range.body))
        facts.add(range)
    }

    /// Ends the plan. It is durable on return.
    package consuming func finish(
        duplicates: DuplicateTally? = nil
    ) throws(StorageError) -> (facts: PlanFacts, seal: PlanSeal) {
        facts.duplicates = duplicates
        try append(PlanFrame.record(.end, facts.body))
        try flush()
        try storage.sync()
        return (facts, PlanSeal(bytes: storage.length, sum: sum))
    }

    private mutating func append(_ record: [UInt8]) throws(StorageError) {
        sum = CRC32C.of(record, after: sum)
        buffer += record
        if buffer.count >= Self.bufferBytes { try flush() }
    }

    private mutating func flush() throws(StorageError) {
        try unsafe buffer.span.withUnsafeBytes { (bytes) throws(StorageError) in unsafe try storage.append(bytes) }
        buffer.removeAll(keepingCapacity: true)
    }
}
