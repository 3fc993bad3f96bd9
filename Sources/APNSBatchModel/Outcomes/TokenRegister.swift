import APNSBatchNotification
import Glibc

/// Finds device tokens that more than one row has. It is exact up to a number of different tokens; beyond that it is a
/// sample, so that memory is bounded: it then keeps only the tokens whose hash ends in a number of zero bits, but sees all
/// rows with these.
///
/// Tokens are distinguished by a 64-bit hash. Not thread-safe. Nothing is allocated before the first token.
@safe package struct TokenRegister: ~Copyable {
    /// The size for a run, as a power of two: 3 MiB, exact up to 196,608 tokens.
    static let bitsOfRun = 18
    /// The size for a check, as a power of two: 6 MiB, exact up to 393,216 tokens.
    package static let bitsOfCheck = 19
    static let pairsMax = 3

    /// Returns the number of different tokens up to which the register is exact.
    static func exactLimit(bits: Int) -> Int { (1 << bits) / 4 * 3 }

    /// The table of hashes, with open addressing by their highest bits; 0 marks a free slot. Owned, allocated with `calloc`.
    private var hashes: UnsafeMutablePointer<UInt64>?
    /// The lowest row of each hash. Owned, allocated with `calloc`.
    private var rows: UnsafeMutablePointer<UInt32>?
    private let bits: Int
    private let limit: Int
    private var count = 0
    /// The number of zero bits in which a hash must end to be kept.
    private(set) var level = 0
    private var sampleMask: UInt64 = 0
    /// The number of rows whose token an earlier row had, by the number of trailing zero bits of its hash.
    private var again = [UInt64](repeating: 0, count: 65)
    private var pairs: [(UInt64, UInt64)] = []
    /// The number of rows whose token is not 32 bytes long, the length that all tokens have today, and the first of these
    /// rows.
    private var unusual: UInt64 = 0
    private var unusualRows: [UInt64] = []

    package init(bits: Int) {
        self.bits = bits
        limit = Self.exactLimit(bits: bits)
    }

    deinit {
        unsafe free(hashes)
        unsafe free(rows)
    }

    /// Notes the rows of a batch whose tokens were used in requests.
    mutating func note(_ batch: OutcomeBatch) {
        for index in 0..<batch.count where unsafe batch.entries[index].isHex {
            let entry = unsafe batch.entries[index]
            let token = unsafe batch.token(of: entry)
            if token.count == DeviceToken.usualLength, let start = token.baseAddress {
                unsafe note(Self.hash(start), row: entry.row)
            } else {
                unsafe noteUnusual(token, row: entry.row)
            }
        }
    }

    /// Notes a row by the hash of its token, and returns the row that had this token before.
    @inline(__always)
    @discardableResult
    package mutating func note(_ hash: UInt64, row: UInt64) -> UInt64? {
        if hash & sampleMask != 0 { return nil }
        return add(hash == 0 ? 1 : hash, row)
    }

    @inline(__always)
    private mutating func add(_ hash: UInt64, _ row: UInt64) -> UInt64? {
        let hashes = unsafe hashes ?? allocate()
        var slot = Int(truncatingIfNeeded: hash &>> UInt64(truncatingIfNeeded: 64 &- bits))
        while unsafe hashes[slot] != 0 {
            if unsafe hashes[slot] == hash { return meet(slot, row) }
            slot = (slot &+ 1) & ((1 &<< bits) &- 1)
        }
        unsafe hashes[slot] = hash
        unsafe rows.unsafelyUnwrapped[slot] = UInt32(clamping: row)
        count &+= 1
        if count == limit { thin() }
        return nil
    }

    private mutating func meet(_ slot: Int, _ row: UInt64) -> UInt64 {
        guard let hashes = unsafe hashes, let rows = unsafe rows else { return 0 }
        unsafe again[hashes[slot].trailingZeroBitCount] += 1
        let first = unsafe UInt64(rows[slot])
        unsafe rows[slot] = UInt32(clamping: min(first, row))
        if pairs.count < Self.pairsMax { pairs.append((min(first, row), max(first, row))) }
        return first
    }

    private mutating func noteUnusual(_ token: UnsafeRawBufferPointer, row: UInt64) {
        unusual += 1
        if unusualRows.count < Self.pairsMax { unusualRows.append(row) }
        unsafe note(Self.hash(token), row: row)
    }

    private mutating func allocate() -> UnsafeMutablePointer<UInt64> {
        // calloc's memory is zeroed by the system when pages are first touched.
        func make<T>(_: T.Type) -> UnsafeMutablePointer<T> {
            guard let memory = unsafe calloc(1 << bits, MemoryLayout<T>.stride) else {
                fatalError("no memory for tokens")
            }
            return unsafe memory.bindMemory(to: T.self, capacity: 1 << bits)
        }
        let made = unsafe make(UInt64.self)
        unsafe hashes = made
        unsafe rows = make(UInt32.self)
        return unsafe made
    }

    /// Halves the sample, repeatedly if necessary, until there is room.
    private mutating func thin() {
        guard let hashes = unsafe hashes, let rows = unsafe rows else { return }
        repeat {
            level += 1
            sampleMask = (1 << UInt64(level)) - 1
            // In place, so that a check of many tokens takes no more memory than one of few. Entries are taken out in the order
            // of their slots, beginning after a free one, so that each finds a slot that is not after its own.
            let slots = 1 << bits
            guard let free = (0..<slots).first(where: { unsafe hashes[$0] == 0 }) else { return }
            count = 0
            for step in 1..<slots {
                let slot = (free + step) & (slots - 1)
                let hash = unsafe hashes[slot]
                unsafe hashes[slot] = 0
                if hash != 0, hash & sampleMask == 0 { unsafe insert(hash, rows[slot]) }
            }
        } while count == limit
    }

    private mutating func insert(_ hash: UInt64, _ row: UInt32) {
        guard let hashes = unsafe hashes, let rows = unsafe rows else { return }
        var slot = Int(hash >> UInt64(64 - bits))
        while unsafe hashes[slot] != 0 { slot = (slot + 1) & ((1 << bits) - 1) }
        unsafe hashes[slot] = hash
        unsafe rows[slot] = row
        count += 1
    }

    /// The tokens whose length is not 32 bytes; nil if there are none.
    var unusualTokens: UnusualTokens? {
        unusual == 0 ? nil : UnusualTokens(rows: unusual, examples: unusualRows)
    }

    /// The duplicate tokens found until now; nil if there are none.
    package var duplicates: DuplicateTokens? {
        let seen = again.reduce(0, +)
        guard seen > 0 else { return nil }
        let sampled = again[level...].reduce(0, +) << UInt64(level)
        return DuplicateTokens(
            rows: max(seen, sampled), sampledOneIn: 1 << UInt64(level), examples: pairs.map { [$0.0, $0.1] })
    }
}

extension TokenRegister {
    /// Returns the hash of a token of 64 hex digits in one case: pairs of words are multiplied to 128 bits and folded, each
    /// pair into the result of the one before.
    ///
    /// - Parameter digits: At least 64 readable bytes.
    @inline(__always)
    static func hash(_ digits: UnsafeRawPointer) -> UInt64 {
        @inline(__always)
        func word(_ index: Int) -> UInt64 { unsafe digits.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self) }
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        hash = fold(hash ^ word(0), factor ^ word(1))
        hash = fold(hash ^ word(2), factor ^ word(3))
        hash = fold(hash ^ word(4), factor ^ word(5))
        hash = fold(hash ^ word(6), factor ^ word(7))
        return hash
    }

    /// Returns the hash of a token with any number of digits.
    package static func hash(_ digits: UnsafeRawBufferPointer) -> UInt64 {
        guard digits.count != DeviceToken.usualLength else { return unsafe hash(digits.baseAddress.unsafelyUnwrapped) }
        return unsafe digits.reduce(UInt64(digits.count)) { fold($0 ^ UInt64($1), factor) }
    }

    private static var factor: UInt64 { 0xD6E8_FEB8_6659_FD93 }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
