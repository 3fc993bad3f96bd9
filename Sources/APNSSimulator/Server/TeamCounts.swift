/// Requests with a valid provider token, by team.
struct TeamCounts: ~Copyable {
    private let names: [String]
    private let requests: UnsafeMutablePointer<UInt64>

    /// - Parameter keys: numbered.
    init(_ keys: [ProviderKey]) {
        var names: [String] = []
        for key in keys where Int(key.team) == names.count {
            names.append(key.teamID)
        }
        self.names = names
        requests = .allocate(capacity: max(1, names.count))
        requests.initialize(repeating: 0, count: max(1, names.count))
    }

    deinit {
        requests.deallocate()
    }

    /// Counts a request; -1 is no team.
    @inline(__always)
    func count(_ team: Int32) {
        if team >= 0 {
            requests[Int(team)] += 1
        }
    }

    /// In order of the keys.
    func counts() -> [SimulatorReport.TeamCount] {
        names.enumerated().map { .init(teamID: $1, requests: requests[$0]) }
    }
}
