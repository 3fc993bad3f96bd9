/// How many requests may be under way while a run begins: as many as were answered, so twice as many with each round trip,
/// until it is clear that the server takes them. A server that takes few a second would else refuse hundreds before its
/// first answer is read.
struct FirstRequests: Equatable {
    private(set) var allowed = FirstRequests.first
    private(set) var isOn = true

    private static let first = 32
    private static let most = 1024

    /// - Parameter answered: answers since the start.
    mutating func note(answered: UInt64) {
        allowed = max(Self.first, Int(min(answered, UInt64(Self.most))))
        if allowed >= Self.most { isOn = false }
    }
}
