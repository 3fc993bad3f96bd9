import APNSBatchBasics
import Glibc

/// What was found out about a provider token once, so that a request costs a comparison and not a signature check.
struct KnownToken {
    /// Owned by the cache.
    var text: UnsafeMutableRawBufferPointer
    /// A hash of the text; never 0. Connections remember a token by it.
    var identity: UInt64
    /// Accepted when form, signature, key, team and environment are right.
    var judgement: FixedAnswer
    /// Numbers of the team and the key, -1 when not genuine.
    var team: Int32
    var key: Int32
    /// Milliseconds since the epoch.
    var issuedAt: Int64
}

/// The last tokens seen, good and bad, a fixed number of them; the oldest makes room.
struct ProviderTokenCache: ~Copyable {
    private let entries: UnsafeMutablePointer<KnownToken>
    private let capacity: Int
    private var count = 0
    private var oldest = 0

    init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
        entries = .allocate(capacity: capacity)
    }

    deinit {
        for index in 0..<count {
            entries[index].text.deallocate()
        }
        entries.deallocate()
    }

    /// The entry number of a token, or -1.
    func find(_ text: Bytes) -> Int {
        for index in 0..<count where holds(text, at: index) {
            return index
        }
        return -1
    }

    /// Whether entry `index`, which may be -1 or out of date, holds this very token.
    @inline(__always)
    func holds(_ text: Bytes, at index: Int) -> Bool {
        index >= 0 && index < count && Bytes(entries[index].text).equals(text)
    }

    @inline(__always)
    subscript(index: Int) -> KnownToken {
        entries[index]
    }

    /// Keeps a token. Returns its entry number.
    mutating func insert(
        _ text: Bytes, _ judgement: FixedAnswer, team: Int32, key: Int32, issuedAt: Int64
    ) -> Int {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, text.count), alignment: 1)
        copy.copyMemory(from: text)
        let entry = KnownToken(
            text: UnsafeMutableRawBufferPointer(start: copy.baseAddress, count: text.count),
            identity: Self.identity(text),
            judgement: judgement, team: team, key: key, issuedAt: issuedAt)
        guard count == capacity else {
            (entries + count).initialize(to: entry)
            count += 1
            return count - 1
        }
        let place = oldest
        oldest = (oldest + 1) % capacity
        entries[place].text.deallocate()
        entries[place] = entry
        return place
    }

    private static func identity(_ text: Bytes) -> UInt64 {
        max(1, FNV1a.hash(text, from: FNV1a.basis))
    }
}
