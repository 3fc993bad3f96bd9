/// Which of the next TCP connections are to end at which byte.
struct FaultCuts {
    /// Where a connection ends.
    struct Cut: Equatable {
        var bytes: Int
        var isReceived: Bool
        var how: AbortFault
    }

    private let faults: [(when: FaultOccasion, how: AbortFault)]
    private var used: [Int]
    private var next = 1

    init(_ faults: [SimulatorFault]) {
        self.faults = faults.compactMap { fault in
            guard fault.when.isAboutBytes, case .abort(let how) = fault.what else { return nil }
            return (fault.when, how)
        }
        used = Array(repeating: 0, count: self.faults.count)
    }

    var isEmpty: Bool { faults.isEmpty }

    /// What the next connection is to suffer; of several faults the first one of the script.
    mutating func layOut() -> Cut? {
        defer { next += 1 }
        for (index, fault) in faults.enumerated() where fault.when.concerns(connection: next) {
            if let times = fault.when.times, used[index] >= times { continue }
            used[index] += 1
            let bytes = fault.when.atByteReceived ?? fault.when.atByte ?? 0
            return Cut(bytes: bytes, isReceived: fault.when.atByteReceived != nil, how: fault.how)
        }
        return nil
    }
}
