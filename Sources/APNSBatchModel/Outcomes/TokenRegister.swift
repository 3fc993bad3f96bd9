import APNSBatchNotification
import Glibc

/// Tokens that more than one row has. Exact up to a number of different tokens, and from then on a sample, so that memory
/// is bounded: of the tokens whose hash ends in so many zero bits, all rows are still seen.
///
/// Tokens are told apart by 64 bits of hash. One thread at a time; nothing is allocated before the first token.
package struct TokenRegister: ~Copyable {
    /// Of a run: 3 MiB, exact up to 196,608 tokens.
    static let bitsOfRun = 18
    /// Of a check: 6 MiB, exact up to 393,216 tokens.
    package static let bitsOfCheck = 19
    static let pairsMax = 3

    /// How many different tokens are told exactly.
    static func exactLimit(bits: Int) -> Int { (1 << bits) / 4 * 3 }

    /// The hashes, with open addressing by their highest bits; 0 is free.
    private var hashes: UnsafeMutablePointer<UInt64>?
    /// The lowest row of each.
    private var rows: UnsafeMutablePointer<UInt32>?
    private let bits: Int
    private let limit: Int
    private var count = 0
    /// Only hashes that end in so many zero bits are kept.
    private(set) var level = 0
    private var sampleMask: UInt64 = 0
    /// Rows whose token another row had before, by the zero bits that its hash ends in.
    private var again = [UInt64](repeating: 0, count: 65)
    private var pairs: [(UInt64, UInt64)] = []
    /// Rows whose token has another size than all have today, and the first of them.
    private var unusual: UInt64 = 0
    private var unusualRows: [UInt64] = []

    package init(bits: Int) {
        self.bits = bits
        limit = Self.exactLimit(bits: bits)
    }

    deinit {
        free(hashes)
        free(rows)
    }

    /// Notes the rows of a batch whose tokens went into requests.
    mutating func note(_ batch: OutcomeBatch) {
        for entry in batch.entries where entry.isHex {
            let token = batch.token(of: entry)
            if token.count == DeviceToken.usualLength, let start = token.baseAddress {
                note(Self.hash(start), row: entry.row)
            } else {
                noteUnusual(token, row: entry.row)
            }
        }
    }

    /// Notes a row by the hash of its token; gives the row that had it before.
    @inline(__always)
    @discardableResult
    package mutating func note(_ hash: UInt64, row: UInt64) -> UInt64? {
        if hash & sampleMask != 0 { return nil }
        return add(hash == 0 ? 1 : hash, row)
    }

    @inline(__always)
    private mutating func add(_ hash: UInt64, _ row: UInt64) -> UInt64? {
        let hashes = hashes ?? allocate()
        var slot = Int(truncatingIfNeeded: hash &>> UInt64(truncatingIfNeeded: 64 &- bits))
        while hashes[slot] != 0 {
            if hashes[slot] == hash { return meet(slot, row) }
            slot = (slot &+ 1) & ((1 &<< bits) &- 1)
        }
        hashes[slot] = hash
        rows.unsafelyUnwrapped[slot] = UInt32(clamping: row)
        count &+= 1
        if count == limit { thin() }
        return nil
    }

    private mutating func meet(_ slot: Int, _ row: UInt64) -> UInt64 {
        guard let hashes, let rows else { return 0 }
        again[hashes[slot].trailingZeroBitCount] += 1
        let first = UInt64(rows[slot])
        rows[slot] = UInt32(clamping: min(first, row))
        if pairs.count < Self.pairsMax { pairs.append((min(first, row), max(first, row))) }
        return first
    }

    private mutating func noteUnusual(_ token: UnsafeRawBufferPointer, row: UInt64) {
        unusual += 1
        if unusualRows.count < Self.pairsMax { unusualRows.append(row) }
        note(Self.hash(token), row: row)
    }

    private mutating func allocate() -> UnsafeMutablePointer<UInt64> {
        // Zeroed by the system as pages are touched.
        func make<T>(_: T.Type) -> UnsafeMutablePointer<T> {
            guard let memory = calloc(1 << bits, MemoryLayout<T>.stride) else { fatalError("no memory for tokens") }
            return memory.bindMemory(to: T.self, capacity: 1 << bits)
        }
        let made = make(UInt64.self)
        hashes = made
        rows = make(UInt32.self)
        return made
    }

    /// Halves the sample until there is room again.
    private mutating func thin() {
        guard let hashes, let rows else { return }
        repeat {
            level += 1
            sampleMask = (1 << UInt64(level)) - 1
            // In place, so that a check of many tokens takes no more memory than one of few. Entries are taken out in the order
            // of their slots, beginning behind a free one, so that each finds a slot that is not behind its own.
            let slots = 1 << bits
            guard let free = (0..<slots).first(where: { hashes[$0] == 0 }) else { return }
            count = 0
            for step in 1..<slots {
                let slot = (free + step) & (slots - 1)
                let hash = hashes[slot]
                hashes[slot] = 0
                if hash != 0, hash & sampleMask == 0 { insert(hash, rows[slot]) }
            }
        } while count == limit
    }

    private mutating func insert(_ hash: UInt64, _ row: UInt32) {
        guard let hashes, let rows else { return }
        var slot = Int(hash >> UInt64(64 - bits))
        while hashes[slot] != 0 { slot = (slot + 1) & ((1 << bits) - 1) }
        hashes[slot] = hash
        rows[slot] = row
        count += 1
    }

    /// Tokens of another size than all have today; nil when there is none.
    var unusualTokens: UnusualTokens? {
        unusual == 0 ? nil : UnusualTokens(rows: unusual, examples: unusualRows)
    }

    /// What was found until now; nil when no row has another's token.
    package var duplicates: DuplicateTokens? {
        let seen = again.reduce(0, +)
        guard seen > 0 else { return nil }
        let sampled = again[level...].reduce(0, +) << UInt64(level)
        return DuplicateTokens(
            rows: max(seen, sampled), sampledOneIn: 1 << UInt64(level), examples: pairs.map { [$0.0, $0.1] })
    }
}

extension TokenRegister {
    /// Of 64 hex digits in one case: pairs of words, multiplied to 128 bits and folded, each on top of the one before.
    @inline(__always)
    static func hash(_ digits: UnsafeRawPointer) -> UInt64 {
        @inline(__always)
        func word(_ index: Int) -> UInt64 { digits.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self) }
        var hash: UInt64 = 0x9E37_79B9_7F4A_7C15
        hash = fold(hash ^ word(0), factor ^ word(1))
        hash = fold(hash ^ word(2), factor ^ word(3))
        hash = fold(hash ^ word(4), factor ^ word(5))
        hash = fold(hash ^ word(6), factor ^ word(7))
        return hash
    }

    /// Of digits in any number.
    package static func hash(_ digits: UnsafeRawBufferPointer) -> UInt64 {
        guard digits.count != DeviceToken.usualLength else { return hash(digits.baseAddress.unsafelyUnwrapped) }
        return digits.reduce(UInt64(digits.count)) { fold($0 ^ UInt64($1), factor) }
    }

    private static var factor: UInt64 { 0xD6E8_FEB8_6659_FD93 }

    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
