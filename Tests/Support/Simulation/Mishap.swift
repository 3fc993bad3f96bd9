/// An event that ends a session before its rows have ended.
enum Mishap {
    /// The process is killed this many turns after its beginning.
    case kill(turns: Int)
    case powerLoss(turns: Int)
    /// The process is killed, or power is lost, when the server has received this many requests in the session.
    case killAtRequest(Int, powerless: Bool)
    /// The run is stopped, either after waiting for answers or at once.
    case stop(turns: Int, atOnce: Bool)
    case disk(DiskFault)

    static func draw(_ dice: inout Dice) -> Mishap {
        let turns = dice.within(0...dice.pick([30, 300, 1500]))
        switch dice.within(0...11) {
        case 0...1: return .kill(turns: turns)
        case 2...3: return .powerLoss(turns: turns)
        case 4: return .stop(turns: turns, atOnce: dice.chance(300_000))
        case 5...6: return .killAtRequest(dice.within(1...dice.pick([3, 100])), powerless: dice.chance(600_000))
        default:
            let operation = dice.within(1...dice.pick([8, 30, 60]))
            return .disk(
                DiskFault(
                    kind: dice.pick(DiskFault.Kind.allCases), operation: operation,
                    endsInPowerLoss: dice.chance(500_000)))
        }
    }

    var diskFault: DiskFault? { if case .disk(let fault) = self { fault } else { nil } }
}
