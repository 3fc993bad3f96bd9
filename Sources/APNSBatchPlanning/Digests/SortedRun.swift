import APNSBatchBasics

/// A run that is being merged. It is never empty.
struct SortedRun {
    private var rest: DigestFile.Run
    private var rows: [KeyedRow]
    private var index = 0

    init(_ run: DigestFile.Run, atOnce: Int, of file: borrowing DigestFile) throws(StorageError) {
        rest = run
        rows = Array(repeating: KeyedRow(digest: (0, 0), row: 0), count: min(atOnce, run.rows))
        try fill(from: file)
    }

    var first: KeyedRow { rows[index] }

    /// Goes on to the next row; returns false if there is none.
    mutating func advance(in file: borrowing DigestFile) throws(StorageError) -> Bool {
        let before = first
        index += 1
        if index == rows.count {
            guard rest.rows > 0 else { return false }
            try fill(from: file)
        }
        guard before < first else { throw DigestFile.changed }
        return true
    }

    private mutating func fill(from file: borrowing DigestFile) throws(StorageError) {
        let read = try unsafe rows.withUnsafeMutableBufferPointer { (rows) throws(StorageError) in
            unsafe try file.read(&rest, into: UnsafeMutableRawBufferPointer(rows))
        }
        rows.removeLast(rows.count - read)
        index = 0
    }
}

/// Merges sorted runs. The least row is found by looking at the first ones of all, because there are few.
struct RunMerge: ~Copyable {
    private var sources: [SortedRun] = []

    init(
        _ runs: ArraySlice<DigestFile.Run>, of file: borrowing DigestFile, atOnce: Int
    ) throws(StorageError) {
        for run in runs { sources.append(try SortedRun(run, atOnce: atOnce, of: file)) }
    }

    mutating func next(in file: borrowing DigestFile) throws(StorageError) -> KeyedRow? {
        guard let least = sources.indices.min(by: { sources[$0].first < sources[$1].first }) else { return nil }
        let row = sources[least].first
        if try !sources[least].advance(in: file) { sources.remove(at: least) }
        return row
    }
}
