/// What a cursor has learned about the members of rows: the names of the columns, and the shape of the last row.
///
/// A shape is what stands between the values. The rows of an export usually have the same one, so that it is compared and not read.
///
/// It is unsafe for speed. Its memory belongs to the cursor, which calls `deallocate`.
@safe struct JSONMembers {
    struct Member {
        /// The length of the text before the value: the comma, the key and the colon with the blanks around them.
        let length: Int
        /// Where that text begins in the shape's.
        let start: Int
        /// Its column, or ``none``; of a member that has columns within its value, the place of a node.
        let column: Int
    }

    private static let membersMax = 128
    private static let textMax = 4096

    /// What stands for a member that is in no column.
    static let none = -1

    private let names: JSONNames
    private let members: UnsafeMutablePointer<Member>
    private let text: UnsafeMutablePointer<UInt8>
    private var memberCount = 0
    private var textCount = 0
    private var tailStart = 0
    /// Whether there is a shape: that of a row that was read to its end.
    private(set) var isKnown = false
    private var fits = true

    /// - Parameter columns: the columns; none for a cursor that reads another format. No two have the same path.
    init(columns: [(index: Int, path: [String])]) {
        names = JSONNames(columns)
        unsafe members = .allocate(capacity: columns.isEmpty ? 0 : Self.membersMax)
        let room = columns.isEmpty ? 0 : Self.textMax + ByteBlock.slack
        unsafe text = .allocate(capacity: room)
        unsafe text.initialize(repeating: 0, count: room)
    }

    func deallocate() {
        names.deallocate()
        unsafe members.deallocate()
        unsafe text.deallocate()
    }

    /// Returns the column or the node of a key; ``none`` if there is none.
    ///
    /// - Parameters:
    ///   - isEscaped: whether the key has escapes, which are part of `key`.
    ///   - parent: the node of the value that has the key; ``none`` for a row.
    func column(of key: UnsafeRawBufferPointer, isEscaped: Bool, in parent: Int = none) -> Int {
        unsafe names.column(of: key, isEscaped: isEscaped, in: parent)
    }

    /// Returns the column or the node of an element of an array likewise.
    func column(ofElement index: Int, in parent: Int) -> Int { names.column(ofElement: index, in: parent) }

    /// Whether a member with this node, which has columns within its value, was added since ``beginShape()``.
    func has(node: Int) -> Bool {
        for index in 0..<memberCount where unsafe members[index].column == node { return true }
        return false
    }

    /// Calls `body` for each column within the value of a node.
    func forEachColumn(in node: Int, _ body: (Int) -> Void) { names.forEachColumn(in: node, body) }
}

// The shape.
extension JSONMembers {
    @inline(__always)
    var indices: Range<Int> { 0..<memberCount }

    @inline(__always)
    subscript(index: Int) -> Member { unsafe members[index] }

    /// Whether the text before a member's value is at `bytes`; as many of them may be read as the buffer has slack.
    @inline(__always)
    func matches(_ member: Member, _ bytes: UnsafePointer<UInt8>) -> Bool {
        unsafe Bytes16.equal(text + member.start, bytes, count: member.length)
    }

    /// Whether what follows the last value is at `bytes`, up to the end of the record.
    @inline(__always)
    func matchesTail(_ bytes: UnsafePointer<UInt8>, count: Int) -> Bool {
        unsafe count == textCount &- tailStart && Bytes16.equal(text + tailStart, bytes, count: count)
    }

    /// Begins to learn the shape of a row.
    mutating func beginShape() {
        (memberCount, textCount, isKnown, fits) = (0, 0, false, true)
    }

    /// Adds a member, and the text before its value.
    mutating func add(_ column: Int, _ before: UnsafeRawBufferPointer) {
        guard fits, memberCount < Self.membersMax, textCount + before.count <= Self.textMax else {
            fits = false
            return
        }
        unsafe (members + memberCount).initialize(
            to: Member(length: before.count, start: textCount, column: column))
        memberCount &+= 1
        unsafe append(before)
    }

    /// Ends the shape with the text after the last value.
    mutating func endShape(_ tail: UnsafeRawBufferPointer) {
        guard fits, textCount + tail.count <= Self.textMax else { return }
        tailStart = textCount
        unsafe append(tail)
        isKnown = true
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        for index in 0..<bytes.count { unsafe text[textCount &+ index] = bytes[index] }
        textCount &+= bytes.count
    }
}
