import APNSBatchBasics
import Glibc

/// The result of a check of a provider token, stored so that a request needs a comparison instead of a signature check.
struct KnownToken {
    var text: [UInt8]
    /// A hash of the text by which connections identify the token; never 0.
    var identity: UInt64
    /// Accepted when form, signature, key, team and environment are right.
    var judgement: FixedAnswer
    /// The numbers of the team and the key, or -1 when the token is not valid.
    var team: Int32
    var key: Int32
    /// Milliseconds since the epoch.
    var issuedAt: Int64
}

/// A fixed number of recently checked tokens, valid and invalid. A new one replaces the oldest.
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

    /// Stores a token and returns its entry number.
    mutating func insert(
        _ text: Bytes, _ judgement: FixedAnswer, team: Int32, key: Int32, issuedAt: Int64
    ) -> Int {
        let entry = unsafe KnownToken(
            text: Array(text), identity: max(1, FNV1a.hash(text, from: FNV1a.basis)), judgement: judgement,
            team: team, key: key, issuedAt: issuedAt)
        guard entries.count == capacity else {
            entries.append(entry)
            return entries.count - 1
        }
        defer { oldest = (oldest + 1) % capacity }
        entries[oldest] = entry
        return oldest
    }
}
