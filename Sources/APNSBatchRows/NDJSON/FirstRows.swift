/// The columns of the first rows of NDJSON, which has no header row.
package struct FirstRows: Sendable, Equatable {
    /// The largest number of rows that are looked at.
    static let most = 1000

    /// The number of rows that were looked at, without those that are no JSON object.
    package fileprivate(set) var rows = 0
    /// The keys of these rows in the order in which they first occur. Those within an object are added if a column is to be
    /// found in it. Compared byte by byte.
    package fileprivate(set) var paths: [[String]] = []
    /// Whether at least one row has a value for a column, by its index; null counts as one.
    fileprivate(set) var has: [Bool]

    /// A row with known keys and unknown values. A part of a value is taken to be there.
    package init(keys: [String], _ columns: [JSONColumn]) {
        self.init(has: columns.map { column in keys.contains { $0.utf8.elementsEqual(column.path[0].utf8) } })
        rows = 1
        paths = keys.map { [$0] } + zip(columns, has).filter { $1 && $0.path.count > 1 }.map(\.0.path)
    }

    fileprivate init(has: [Bool]) { self.has = has }

    /// The keys that are in no object of a row.
    package var keys: [String] { paths.filter { $0.count == 1 }.map { $0[0] } }
}

/// Looks at the rows of chunks, as they were read.
struct FirstRowsLook {
    private let columns: [JSONColumn]
    private(set) var found: FirstRows
    private var seen: Set<[[UInt8]]> = []

    init(_ columns: [JSONColumn]) {
        self.columns = columns
        found = FirstRows(has: columns.map { _ in false })
    }

    /// Whether all columns were found that a campaign needs.
    var isEnough: Bool { zip(columns, found.has).allSatisfy { !$0.isNeeded || $1 } }

    /// Looks at all rows of a chunk that begins the input, and forgets what it found before.
    mutating func look(at chunk: RowChunk) {
        self = FirstRowsLook(columns)
        var offset = 0
        for index in 0..<chunk.rowCount {
            let end = unsafe chunk.ends[index]
            let start = unsafe RowCursor.recordStart(chunk.bytes, from: offset).offset
            offset = end.offset
            guard end.cut == 0 else { continue }
            var walk = unsafe Walk(chunk.bytes)
            if walk.object(from: walk.line.skipBlanks(start), [], self) { found.rows += 1 }
            for path in walk.paths { add(path) }
        }
    }

    private mutating func add(_ path: [String]) {
        guard seen.insert(path.map { Array($0.utf8) }).inserted else { return }
        found.paths.append(path)
        for (index, column) in columns.enumerated() where Self.equal(column.path, path) { found.has[index] = true }
    }

    /// Whether a column is to be found within the value at a path.
    fileprivate func isWithin(_ path: [String]) -> Bool {
        columns.contains { $0.path.count > path.count && Self.equal(Array($0.path.prefix(path.count)), path) }
    }

    private static func equal(_ one: [String], _ other: [String]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Collects the keys of one row.
    @safe private struct Walk {
        private let bytes: UnsafePointer<UInt8>
        var line: JSONLine
        var paths: [[String]] = []

        init(_ bytes: UnsafePointer<UInt8>) {
            unsafe self.bytes = unsafe bytes
            line = unsafe JSONLine(bytes)
        }

        /// Reads an object, and returns whether it has no fault.
        mutating func object(from start: Int, _ path: [String], _ look: FirstRowsLook) -> Bool {
            unsafe bytes[start] == UInt8(ascii: "{") && members(from: start, path, look) >= 0
        }

        private mutating func members(from start: Int, _ path: [String], _ look: FirstRowsLook) -> Int {
            var at = line.skipBlanks(start &+ 1)
            if unsafe bytes[at] == UInt8(ascii: "}") { return at &+ 1 }
            while true {
                let value = line.endOfKey(from: at)
                if value < 0 { return -1 }
                at = self.value(at: value, path + [key(at)], look)
                if at < 0 { return -1 }
                at = line.skipBlanks(at)
                if unsafe bytes[at] == UInt8(ascii: "}") { return at &+ 1 }
                guard unsafe bytes[at] == UInt8(ascii: ",") else { return -1 }
                at = line.skipBlanks(at &+ 1)
            }
        }

        private mutating func elements(from start: Int, _ path: [String], _ look: FirstRowsLook) -> Int {
            var at = line.skipBlanks(start &+ 1)
            if unsafe bytes[at] == UInt8(ascii: "]") { return at &+ 1 }
            for index in 0... {
                at = value(at: at, path + ["\(index)"], look)
                if at < 0 { return -1 }
                at = line.skipBlanks(at)
                if unsafe bytes[at] == UInt8(ascii: "]") { return at &+ 1 }
                guard unsafe bytes[at] == UInt8(ascii: ",") else { return -1 }
                at = line.skipBlanks(at &+ 1)
            }
            return -1
        }

        private mutating func value(at start: Int, _ path: [String], _ look: FirstRowsLook) -> Int {
            paths.append(path)
            guard look.isWithin(path) else { return line.endOfValue(from: start) }
            return switch unsafe bytes[start] {
            case UInt8(ascii: "{"): members(from: start, path, look)
            case UInt8(ascii: "["): elements(from: start, path, look)
            default: line.endOfValue(from: start)
            }
        }

        /// Returns the key that begins with the quote at `start`, the last one that was read.
        private func key(_ start: Int) -> String {
            let content = unsafe Array(UnsafeBufferPointer(start: bytes + start + 1, count: line.keyEnd - start - 1))
            return JSONEscape.text(content, isEscaped: line.isEscaped)
        }
    }
}
