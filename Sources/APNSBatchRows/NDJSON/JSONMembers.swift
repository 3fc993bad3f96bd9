/// What a cursor knows of the members of rows: the names of the columns, and the shape of the last row.
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
        /// -1 if the member is in no column.
        let column: Int
    }

    private static let membersMax = 128
    private static let textMax = 4096

    private let names: UnsafeMutablePointer<UInt8>
    /// The end of each name in `names`.
    private let nameEnds: UnsafeMutablePointer<Int>
    private let columnCount: Int
    private let members: UnsafeMutablePointer<Member>
    private let text: UnsafeMutablePointer<UInt8>
    private var memberCount = 0
    private var textCount = 0
    private var tailStart = 0
    /// Whether there is a shape: that of a row that was read to its end.
    private(set) var isKnown = false
    private var fits = true

    /// - Parameter columns: the names of the columns; none for a cursor that reads another format.
    init(columns: [String]) {
        let bytes = columns.flatMap(\.utf8)
        columnCount = columns.count
        unsafe names = .allocate(capacity: bytes.count)
        unsafe nameEnds = .allocate(capacity: columns.count)
        for (index, byte) in bytes.enumerated() { unsafe (names + index).initialize(to: byte) }
        var end = 0
        for (index, name) in columns.enumerated() {
            end += name.utf8.count
            unsafe (nameEnds + index).initialize(to: end)
        }
        unsafe members = .allocate(capacity: columns.isEmpty ? 0 : Self.membersMax)
        let room = columns.isEmpty ? 0 : Self.textMax + ByteBlock.slack
        unsafe text = .allocate(capacity: room)
        unsafe text.initialize(repeating: 0, count: room)
    }

    func deallocate() {
        unsafe names.deallocate()
        unsafe nameEnds.deallocate()
        unsafe members.deallocate()
        unsafe text.deallocate()
    }

    /// Returns the column of a key; -1 if there is none.
    ///
    /// - Parameter isEscaped: whether the key has escapes, which are part of `key`.
    func column(of key: UnsafeRawBufferPointer, isEscaped: Bool) -> Int {
        var start = 0
        for column in 0..<columnCount {
            let end = unsafe nameEnds[column]
            let name = unsafe UnsafeRawBufferPointer(start: names + start, count: end &- start)
            start = end
            if isEscaped ? unsafe JSONEscape.equal(key, name) : unsafe Self.equal(key, name) { return column }
        }
        return -1
    }

    private static func equal(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        for index in 0..<one.count where unsafe one[index] != other[index] { return false }
        return true
    }
}

// The shape.
extension JSONMembers {
    @inline(__always)
    var indices: Range<Int> { 0..<memberCount }

    @inline(__always)
    subscript(index: Int) -> Member { unsafe members[index] }

    /// Whether the text before a member's value is at `bytes`, of which as many may be read as the buffer has slack.
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
