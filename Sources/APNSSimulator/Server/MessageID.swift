import APNSBatchBasics

/// The 36 bytes of an `apns-id` as text.
struct MessageID {
    /// How many bytes.
    static let length = 36

    private var bytes: (UInt64, UInt64, UInt64, UInt64, UInt32) = (0, 0, 0, 0, 0)

    /// - Parameter text: 36 bytes.
    @inline(__always)
    init(_ text: UnsafeRawPointer) {
        withUnsafeMutableBytes(of: &bytes) { $0.copyMemory(from: Bytes(start: text, count: Self.length)) }
    }

    /// A version 4 UUID (RFC 9562, section 5.4) out of two random numbers, in lower case.
    init(high: UInt64, low: UInt64) {
        let high = high & ~0xF000 | 0x4000
        let low = low & ~(0xC << 60) | 0x8 << 60
        withUnsafeMutableBytes(of: &bytes) { out in
            var at = 0
            for digit in 0..<32 {
                let half = digit < 16 ? high : low
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    out[at] = UInt8(ascii: "-")
                    at += 1
                }
                out[at] = Hex.digit(UInt8(truncatingIfNeeded: half >> UInt64(60 - digit % 16 * 4)) & 15)
                at += 1
            }
        }
    }

    var text: String {
        withUnsafeBytes(of: bytes) { String(decoding: $0.prefix(Self.length), as: UTF8.self) }
    }

    @inline(__always)
    func write(to out: UnsafeMutableRawPointer) {
        withUnsafeBytes(of: bytes) { out.copyMemory(from: $0.baseAddress!, byteCount: Self.length) }
    }
}
