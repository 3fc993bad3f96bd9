/// The 64-bit hash function FNV-1a (Fowler, Noll, Vo).
@usableFromInline package enum FNV1a {
    @inlinable package static var basis: UInt64 { 0xCBF2_9CE4_8422_2325 }
    @inlinable package static var prime: UInt64 { 0x0000_0100_0000_01B3 }

    /// Returns the hash of `bytes`, continued from `state`.
    @inlinable @inline(__always)
    package static func hash(_ bytes: UnsafeRawBufferPointer, from state: UInt64) -> UInt64 {
        var hash = state
        for index in bytes.indices {
            hash = unsafe (hash ^ UInt64(bytes[index])) &* prime
        }
        return hash
    }

    /// Mixes the bits of a hash: for tokens that differ in their last digits only, its upper bits are almost the same.
    @inlinable @inline(__always)
    package static func spread(_ hash: UInt64) -> UInt64 { (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD }

    /// Returns the state after hashing the eight bytes of `seed`, least significant first.
    package static func state(seed: UInt64) -> UInt64 {
        var hash = basis
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
            hash = (hash ^ (seed >> shift & 0xFF)) &* prime
        }
        return hash
    }
}
