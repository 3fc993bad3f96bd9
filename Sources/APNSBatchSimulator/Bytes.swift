import Glibc

/// A borrowed run of bytes: a header value, a body, a part of one. They are the transport's and valid for the length of a
/// turn; what judges a request reads them in place, so that the simulator keeps up with any sender.
typealias Bytes = UnsafeRawBufferPointer

extension UnsafeRawBufferPointer {
    /// The bytes from `start`, also where a length of 0 came without an address.
    @inline(__always)
    init(_ start: UnsafePointer<UInt8>?, length: UInt32) {
        unsafe self.init(start: start, count: start == nil ? 0 : Int(length))
    }

    /// Whether these are exactly the bytes of `text`; one comparison of lengths and one memcmp.
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

    /// The bytes from `offset` on; `offset` is at most `count`.
    @inline(__always)
    func dropping(_ offset: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: self[offset...])
    }

    /// The first `length` bytes; `length` is at most `count`.
    @inline(__always)
    func keeping(_ length: Int) -> UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(rebasing: self[..<length])
    }
}
