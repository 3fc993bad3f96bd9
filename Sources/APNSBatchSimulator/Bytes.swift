import Glibc

/// A borrowed sequence of bytes, such as a header field value, a body or a part of one. The bytes belong to the
/// transport and are valid for one turn. The checks read them in place, so that the simulator keeps up with any sender.
typealias Bytes = UnsafeRawBufferPointer

extension UnsafeRawBufferPointer {
    /// Creates a buffer of the bytes from `start`. If the length is 0, there may be no address.
    @inline(__always)
    init(_ start: UnsafePointer<UInt8>?, length: UInt32) {
        unsafe self.init(start: start, count: start == nil ? 0 : Int(length))
    }

    /// Returns whether these are exactly the bytes of `text`, by a comparison of lengths and one memcmp.
    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount, let baseAddress else { return false }
        return unsafe memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    @inline(__always)
    func equals(_ other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count else { return false }
        guard count > 0, let mine = baseAddress, let theirs = other.baseAddress else { return true }
        return unsafe memcmp(mine, theirs, count) == 0
    }

    @inline(__always)
    func equals(_ other: [UInt8]) -> Bool { unsafe other.withUnsafeBytes { unsafe equals($0) } }

    @inline(__always)
    func begins(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount, let baseAddress else { return false }
        return unsafe memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    @inline(__always)
    func ends(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount, let baseAddress else { return false }
        return unsafe memcmp(baseAddress + (count - text.utf8CodeUnitCount), text.utf8Start, text.utf8CodeUnitCount)
            == 0
    }

    /// Returns the bytes from `offset` on; `offset` is at most `count`.
    @inline(__always)
    func dropping(_ offset: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: self[offset...])
    }

    /// Returns the first `length` bytes; `length` is at most `count`.
    @inline(__always)
    func keeping(_ length: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: self[..<length])
    }
}
