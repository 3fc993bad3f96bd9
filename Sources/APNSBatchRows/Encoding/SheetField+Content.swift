import APNSBatchBasics

extension SheetField {
    @unsafe enum Part {
        /// A character, or a byte that is no part of one, as it is.
        case plain(Slice<UnsafeRawBufferPointer>)
        case harmful(Unicode.Scalar)
        /// A byte of 0x80 to 0x9F that is no part of a character: a control in some character sets.
        case stray(UInt8)
    }

    static func forEachPart(of field: UnsafeRawBufferPointer, _ body: (Part) -> Void) {
        guard let start = unsafe field.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        var offset = 0
        while offset < field.count {
            let length = unsafe (start + offset).sequenceLength(available: field.count - offset)
            let bytes = unsafe field[offset..<(offset + max(1, length))]
            offset += max(1, length)
            if length == 0 {
                let byte = unsafe bytes[bytes.startIndex]
                unsafe body(byte < 0xA0 ? .stray(byte) : .plain(bytes))
            } else {
                let scalar = unsafe scalar(bytes)
                unsafe body(scalar.isHarmful ? .harmful(scalar) : .plain(bytes))
            }
        }
    }

    /// Decodes a well-formed sequence.
    private static func scalar(_ bytes: Slice<UnsafeRawBufferPointer>) -> Unicode.Scalar {
        let first = unsafe UInt32(bytes[bytes.startIndex])
        let lead = unsafe bytes.count == 1 ? first : first & (0x7F >> UInt32(bytes.count))
        let value = unsafe bytes.dropFirst().reduce(lead) { $0 << 6 | UInt32($1 & 0x3F) }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    /// The content of an altered field. What does not fit with its quotes doubled is left out.
    @unsafe struct Content {
        private let room: UnsafeMutableBufferPointer<UInt8>
        private(set) var count = 0
        private var left: Int

        init(_ room: UnsafeMutableBufferPointer<UInt8>) { unsafe (self.room, left) = (room, room.count) }

        mutating func append(_ byte: UInt8) {
            unsafe append(repeatElement(byte, count: 1), cost: byte == Byte.quote ? 2 : 1)
        }

        mutating func append(_ part: Part) {
            switch unsafe part {
            case .plain(let bytes) where unsafe bytes.first == Byte.backslash:
                unsafe append(repeatElement(Byte.backslash, count: 2), cost: 2)
            case .plain(let bytes):
                unsafe append(bytes, cost: bytes.count + (bytes.first == Byte.quote ? 1 : 0))
            case .harmful("\n"): unsafe append("\\n")
            case .harmful("\r"): unsafe append("\\r")
            case .harmful("\t"): unsafe append("\\t")
            case .harmful(let scalar): unsafe append("\\u", scalar.value, digits: 4)
            case .stray(let byte): unsafe append("\\x", UInt32(byte), digits: 2)
            }
        }

        private mutating func append(_ text: StaticString) {
            let bytes = unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            unsafe append(bytes, cost: bytes.count)
        }

        private mutating func append(_ text: StaticString, _ value: UInt32, digits: Int) {
            guard unsafe left >= 2 + digits else { return unsafe left = 0 }
            unsafe append(text)
            for place in (0..<UInt32(digits)).reversed() {
                unsafe append(Hex.digit(UInt8(truncatingIfNeeded: value >> (4 * place)) & 15))
            }
        }

        private mutating func append(_ bytes: some Collection<UInt8>, cost: Int) {
            // Nothing follows what did not fit.
            guard unsafe cost <= left else { return unsafe left = 0 }
            for byte in bytes {
                unsafe room[count] = byte
                unsafe count += 1
            }
            unsafe left -= cost
        }
    }
}
