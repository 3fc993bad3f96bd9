import APNSBatchBasics
import Glibc

/// What was found out about a provider token once, so that a request costs a comparison and not a signature check.
struct KnownToken {
    var text: [UInt8]
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
struct ProviderTokenCache {
    private var entries: [KnownToken] = []
    private let capacity: Int
    private var oldest = 0

    init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    /// The entry number of a token, or -1.
    func find(_ text: Bytes) -> Int {
        entries.firstIndex { unsafe text.equals($0.text) } ?? -1
    }

    /// Whether entry `index`, which may be -1 or out of date, holds this very token.
    @inline(__always)
    func holds(_ text: Bytes, at index: Int) -> Bool {
        unsafe entries.indices.contains(index) && text.equals(entries[index].text)
    }

    @inline(__always)
    subscript(index: Int) -> KnownToken {
        entries[index]
    }

    /// Keeps a token. Returns its entry number.
    mutating func insert(
        _ text: Bytes, _ judgement: FixedAnswer, team: Int32, key: Int32, issuedAt: Int64
    ) -> Int {
        let entry = unsafe KnownToken(
            text: Array(text), identity: Self.identity(text), judgement: judgement, team: team, key: key,
            issuedAt: issuedAt)
        guard entries.count == capacity else {
            entries.append(entry)
            return entries.count - 1
        }
        defer { oldest = (oldest + 1) % capacity }
        entries[oldest] = entry
        return oldest
    }

    private static func identity(_ text: Bytes) -> UInt64 {
        unsafe max(1, FNV1a.hash(text, from: FNV1a.basis))
    }
}
