import APNSBatchSimulator

/// Records which rows the server processed and how it answered, and makes requests fail at random.
final class Witness: SimulatorProbe, @unchecked Sendable {
    /// The statuses of the answers for each row, in the order of the requests.
    private(set) var statuses: [UInt64: [UInt16]] = [:]
    private(set) var strangers = 0
    /// The number of requests of all rows.
    private(set) var requests = 0
    private var dice: Dice
    private let strikes: Strikes
    var faults: SeedPlan.ServerFaults

    init(_ faults: SeedPlan.ServerFaults, seed: UInt64, strikes: Strikes) {
        self.faults = faults
        self.strikes = strikes
        dice = Dice(seed: seed ^ 0x5749_544E_4553_5321)
    }

    func fate() -> RequestFate {
        if dice.chance(Int(faults.refused)) { return struck("stream refused", .refused) }
        if dice.chance(Int(faults.reset)) { return struck("stream reset", .reset(dice.pick([0, 2, 8, 11]))) }
        if dice.chance(Int(faults.forgotten)) { return struck("request forgotten", .forgotten) }
        return .answered
    }

    private func struck(_ name: String, _ fate: RequestFate) -> RequestFate {
        strikes.count("server: \(name)")
        return fate
    }

    func judged(_ request: JudgedRequest) {
        guard let token = request.deviceToken else { return }
        requests += 1
        guard let row = InputRow.number(ofToken: token) else {
            strangers += 1
            return
        }
        statuses[row, default: []].append(request.status)
    }

    func received(_ row: UInt64) -> Int { statuses[row]?.count ?? 0 }
    func accepted(_ row: UInt64) -> Int { statuses[row]?.count { $0 == 200 } ?? 0 }
}
