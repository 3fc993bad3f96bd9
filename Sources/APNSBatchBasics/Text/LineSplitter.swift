/// Printable lines of a stream of bytes that another program writes. A line that is too long is cut, and ends in LF or CR LF.
package struct LineSplitter {
    private var line: [UInt8] = []
    private static let most = 1024

    package init() {}

    package mutating func add(_ bytes: some Sequence<UInt8>, _ take: (String) -> Void) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                finish(take)
            } else if line.count < Self.most {
                line.append(byte)
            }
        }
    }

    /// Gives the last line, if it has no end.
    package mutating func finish(_ take: (String) -> Void) {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if !line.isEmpty { take(Printable.text(bytes: line)) }
        line = []
    }
}
