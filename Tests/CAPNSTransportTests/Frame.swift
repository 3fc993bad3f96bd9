/// An HTTP/2 frame (RFC 9113, section 4.1).
struct Frame: Equatable {
    var type: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload: [UInt8] = []

    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let priority: UInt8 = 2
    static let reset: UInt8 = 3
    static let settings: UInt8 = 4
    static let ping: UInt8 = 6
    static let goaway: UInt8 = 7
    static let continuation: UInt8 = 9

    static let endStream: UInt8 = 1
    static let endHeaders: UInt8 = 4

    var bytes: [UInt8] {
        let length = UInt32(payload.count)
        return [UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags] + bigEndian(stream)
            + payload
    }

    /// Removes and returns the first frame of `bytes` if it is complete.
    static func take(from bytes: inout [UInt8]) -> Frame? {
        guard bytes.count >= 9 else { return nil }
        let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        guard bytes.count >= 9 + length else { return nil }
        let stream = bytes[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let frame = Frame(type: bytes[3], flags: bytes[4], stream: stream, payload: Array(bytes[9..<9 + length]))
        bytes.removeFirst(9 + length)
        return frame
    }

    static func settings(_ values: [UInt16: UInt32]) -> Frame {
        Frame(
            type: settings,
            payload: values.sorted { $0.key < $1.key }.flatMap {
                [UInt8($0.key >> 8), UInt8($0.key & 255)] + bigEndian($0.value)
            })
    }

    static func reset(_ stream: UInt32, _ code: UInt32) -> Frame {
        Frame(type: reset, stream: stream, payload: bigEndian(code))
    }

    static func goaway(_ last: UInt32, _ code: UInt32, _ debug: String) -> Frame {
        Frame(type: goaway, payload: bigEndian(last) + bigEndian(code) + Array(debug.utf8))
    }

    /// Returns HEADERS with `:status: 200`, which is entry 8 of the static table.
    static func ok(_ stream: UInt32, end: Bool = true) -> Frame {
        Frame(type: headers, flags: endHeaders | (end ? endStream : 0), stream: stream, payload: [0x88])
    }
}

func bigEndian(_ value: UInt32) -> [UInt8] {
    [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
}
