import APNSBatchSimulator

/// Makes server and network do what they may do at any time, until the calm phase, lets the sender's process stand still, and lets
/// everything arrive after its end.
final class Meddler {
    private let plan: SeedPlan
    private unowned let world: SimulatedWorld
    private unowned let witness: Witness
    private unowned let simulator: SteppedSimulator
    private let strikes: Strikes
    private let start: UInt64
    var dice: Dice
    private(set) var isCalm = false
    /// The number of the plan's standstills that have begun. The last one ends at `standsUntil`.
    private var stoodStill = 0
    private(set) var standsUntil: UInt64 = 0

    init(
        _ plan: SeedPlan, _ world: SimulatedWorld, _ witness: Witness, _ simulator: SteppedSimulator, _ strikes: Strikes
    ) {
        (self.plan, self.world, self.witness, self.simulator) = (plan, world, witness, simulator)
        (self.strikes, start) = (strikes, world.now)
        dice = Dice(seed: plan.seed ^ 0x6D65_6464_6C65)
    }

    /// Makes the server do what it may do at any time.
    func meddle() {
        guard !isCalm else { return }
        let connections = simulator.connections
        guard !connections.isEmpty else { return }
        if dice.chance(Int(plan.server.goaway)) {
            strikes.count("server: GOAWAY")
            simulator.goaway(
                dice.pick(connections), code: UInt32(dice.pick([0, 0, 2, 11])), debug: "", closing: dice.chance(500_000)
            )
        }
        if dice.chance(Int(plan.server.settings)) {
            strikes.count("server: SETTINGS")
            simulator.setStreams(dice.pick(connections), UInt32(dice.pick([0, 1, 2, 10, 100, 1000])))
        }
        if dice.chance(Int(plan.server.closed)) {
            strikes.count("server: closed")
            simulator.close(dice.pick(connections))
        }
    }

    /// Stops the sender's process when its time has come. The server and the network continue.
    func standStill() {
        guard stoodStill < plan.standstills.count else { return }
        let (after, time) = plan.standstills[stoodStill]
        guard world.now >= max(standsUntil, start + after) else { return }
        strikes.count("stood still")
        stoodStill += 1
        standsUntil = world.now + time
        world.standStill(but: simulator.number, for: time)
    }

    /// Ends all faults when their time is over, except that silent connections stay silent.
    func calmDown() {
        guard !isCalm, world.now - start >= plan.calmAfter else { return }
        isCalm = true
        world.setFaults(nil)
        witness.faults = SeedPlan.ServerFaults()
        for connection in simulator.connections { simulator.setStreams(connection, plan.streams) }
    }

    /// Lets the bytes arrive that the lanes sent before they ended.
    func settle() {
        let until = world.now + 2_000_000_000
        var idle = 0
        while world.now < until, idle < 10_000, let number = world.next() {
            idle += 1
            if number == simulator.number { _ = simulator.turn() }
        }
    }
}
