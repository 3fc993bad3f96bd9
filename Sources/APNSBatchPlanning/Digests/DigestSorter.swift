import APNSBatchBasics

/// Brings rows with the same key together, however many there are, in constant memory.
///
/// Rows are gathered in memory. When it is full, they are divided by the first bits of their digests, and each part is
/// appended to its partition in a file. At the end one partition after the other is read and sorted. A partition that
/// does not fit, which takes some 8 million rows or very many with one key, is sorted piece by piece, and the pieces are
/// merged.
///
/// Memory is 80 bytes for each row of the capacity, and 1 MiB. The file takes 32 bytes for each row, and as much again for
/// rows of partitions that do not fit, or more if there are billions. Nothing is written while all rows fit into memory.
package struct DigestSorter: ~Copyable {
    private var rows: KeyedRows
    /// Nil while all rows are in memory.
    private var file: DigestFile?
    private let makeFile: @Sendable () throws(StorageError) -> any AppendFile

    /// The number of rows in memory: at most 11 MiB.
    package static let standardCapacity = 1 << 17
    private static let partitionBits = 6
    static let partitions = 1 << partitionBits
    /// The number of runs that are merged at once.
    private static let fanIn = 64

    /// - Parameters:
    ///   - capacity: The number of rows in memory.
    ///   - makeFile: Creates an empty file, called when the memory is first full.
    package init(
        capacity: Int = standardCapacity, file makeFile: @escaping @Sendable () throws(StorageError) -> any AppendFile
    ) {
        rows = KeyedRows(capacity: capacity)
        self.makeFile = makeFile
    }

    /// Adds rows, in any order.
    package mutating func add(_ more: Span<KeyedRow>) throws(StorageError) {
        var start = 0
        while start < more.count {
            if rows.room == 0 { try spill() }
            let end = min(more.count, start + rows.room)
            rows.append(more.extracting(start..<end))
            start = end
        }
    }

    /// Moves the rows in memory to the file.
    private mutating func spill() throws(StorageError) {
        if file == nil { file = DigestFile(try makeFile(), partitions: Self.partitions) }
        guard var file = file.take() else { return }
        let starts = rows.part(skipping: 0, bits: Self.partitionBits)
        for partition in 0..<Self.partitions {
            unsafe try file.append(rows.bytes(starts[partition]..<starts[partition + 1]), to: partition)
        }
        rows.removeAll()
        self.file = consume file
    }

    /// Calls `visit` for all rows: those with the same key one after the other, in the order of their numbers. `first` is
    /// the first row with the key, and nil for that row itself.
    package consuming func visit(_ visit: (KeyedRow, _ first: KeyedRow?) -> Void) throws(StorageError) {
        var keys = KeyGroups()
        guard file != nil else {
            rows.sort(skipping: 0)
            return keys.take(rows, visit)
        }
        try spill()
        guard var file = file.take() else { return }
        for partition in 0..<Self.partitions {
            var runs = try Self.gather(partition, of: &file, in: &rows)
            if runs.isEmpty {
                keys.take(rows, visit)
            } else {
                try Self.reduce(&runs, of: &file, with: &rows)
                try Self.merge(runs[...], of: file, atOnce: Self.mergedRows(rows)) { keys.take($0, visit) }
            }
        }
    }

    /// Reads a partition into memory and sorts it. If it does not fit, its sorted runs are in the file, and memory is empty.
    private static func gather(
        _ partition: Int, of file: inout DigestFile, in rows: inout KeyedRows
    ) throws(StorageError) -> [DigestFile.Run] {
        var blocks = file.blocks(of: partition)
        var runs: [DigestFile.Run] = []
        rows.removeAll()
        while let block = try file.next(&blocks) {
            guard block.count <= rows.capacity else { throw DigestFile.changed }
            if block.count > rows.room { runs.append(try write(&rows, to: &file)) }
            try unsafe rows.append(block.count) { (room) throws(StorageError) in unsafe try file.read(block, into: room)
            }
        }
        if runs.isEmpty { rows.sort(skipping: partitionBits) } else { runs.append(try write(&rows, to: &file)) }
        return runs
    }

    private static func write(_ rows: inout KeyedRows, to file: inout DigestFile) throws(StorageError) -> DigestFile.Run
    {
        rows.sort(skipping: partitionBits)
        defer { rows.removeAll() }
        return unsafe try file.append(run: rows.bytes(0..<rows.count), to: nil)
    }

    /// Merges the first runs, and again, until there are as few as can be merged at once. Memory is empty, before and after.
    private static func reduce(
        _ runs: inout [DigestFile.Run], of file: inout DigestFile, with rows: inout KeyedRows
    ) throws(StorageError) {
        while runs.count > fanIn {
            runs.append(try merged(runs[..<fanIn], of: &file, with: &rows))
            runs.removeFirst(fanIn)
        }
    }

    private static func merged(
        _ runs: ArraySlice<DigestFile.Run>, of file: inout DigestFile, with rows: inout KeyedRows
    ) throws(StorageError) -> DigestFile.Run {
        var merge = try RunMerge(runs, of: file, atOnce: mergedRows(rows))
        var run: DigestFile.Run?
        while let row = try merge.next(in: file) {
            rows.append(row)
            guard rows.room == 0 else { continue }
            run = try unsafe file.append(run: rows.bytes(0..<rows.count), to: run)
            rows.removeAll()
        }
        defer { rows.removeAll() }
        return unsafe try file.append(run: rows.bytes(0..<rows.count), to: run)
    }

    private static func merge(
        _ runs: ArraySlice<DigestFile.Run>, of file: borrowing DigestFile, atOnce: Int, _ take: (KeyedRow) -> Void
    ) throws(StorageError) {
        var merge = try RunMerge(runs, of: file, atOnce: atOnce)
        while let row = try merge.next(in: file) { take(row) }
    }

    /// The number of rows of each run that are in memory while runs are merged: all of them take a quarter of the others.
    private static func mergedRows(_ rows: borrowing KeyedRows) -> Int { max(1, rows.capacity / fanIn / 2) }
}
