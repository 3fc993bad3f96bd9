/// The keys under which the columns of rows are found: a tree, because a key may lead to an object with further ones.
///
/// A place in the tree is a column, if it is 0 or more, or the node of a value that has columns within it, which is less than
/// ``JSONMembers/none``.
///
/// It is unsafe for speed. Its memory belongs to the cursor, which calls `deallocate`.
@safe struct JSONNames {
    private struct Entry {
        let start: Int
        let end: Int
        /// The value of a key that is a number; -1 otherwise.
        let element: Int
        let parent: Int
        /// The column or the node.
        let place: Int
    }

    private let bytes: UnsafeMutablePointer<UInt8>
    private let entries: UnsafeMutablePointer<Entry>
    private let count: Int

    /// - Parameter columns: the columns, with the keys that lead to them. No path is the beginning of another one.
    init(_ columns: [(index: Int, path: [String])]) {
        // By bytes: texts that are equal in Unicode may be different keys.
        var nodes: [[[UInt8]]: Int] = [:]
        var (text, found): ([UInt8], [Entry]) = ([], [])
        for column in columns {
            var parent = JSONMembers.none
            for (depth, key) in column.path.enumerated() {
                let path = column.path[...depth].map { Array($0.utf8) }
                let isLast = depth == column.path.count - 1
                if !isLast, let node = nodes[path] {
                    parent = node
                    continue
                }
                let place = isLast ? column.index : JSONMembers.none - 1 - nodes.count
                if !isLast { nodes[path] = place }
                let start = text.count
                text += Array(key.utf8)
                found.append(
                    Entry(start: start, end: text.count, element: Self.element(key), parent: parent, place: place))
                parent = place
            }
        }
        count = found.count
        unsafe bytes = .allocate(capacity: text.count)
        unsafe entries = .allocate(capacity: found.count)
        for (index, byte) in text.enumerated() { unsafe (bytes + index).initialize(to: byte) }
        for (index, entry) in found.enumerated() { unsafe (entries + index).initialize(to: entry) }
    }

    func deallocate() {
        unsafe bytes.deallocate()
        unsafe entries.deallocate()
    }

    private static func element(_ key: String) -> Int {
        guard let number = Int(key), number >= 0, String(number) == key else { return -1 }
        return number
    }

    /// See `JSONMembers`.
    func column(of key: UnsafeRawBufferPointer, isEscaped: Bool, in parent: Int) -> Int {
        for index in 0..<count where unsafe entries[index].parent == parent {
            let entry = unsafe entries[index]
            let name = unsafe UnsafeRawBufferPointer(start: bytes + entry.start, count: entry.end &- entry.start)
            if isEscaped ? unsafe JSONEscape.equal(key, name) : unsafe Self.equal(key, name) { return entry.place }
        }
        return JSONMembers.none
    }

    /// See `JSONMembers`.
    func column(ofElement element: Int, in parent: Int) -> Int {
        for index in 0..<count {
            let entry = unsafe entries[index]
            if entry.parent == parent, entry.element == element { return entry.place }
        }
        return JSONMembers.none
    }

    /// See `JSONMembers`.
    func forEachColumn(in node: Int, _ body: (Int) -> Void) {
        for index in 0..<count where unsafe entries[index].parent == node {
            let place = unsafe entries[index].place
            if place >= 0 { body(place) } else { forEachColumn(in: place, body) }
        }
    }

    private static func equal(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        for index in 0..<one.count where unsafe one[index] != other[index] { return false }
        return true
    }
}
