import APNSBatchTransport

/// Counts how often each fault occurs, to show faults that never occur.
package final class Strikes: @unchecked Sendable {
    package private(set) var counts: [String: Int] = [:]

    package init() {}

    func count(_ name: String, _ times: Int = 1) { if times > 0 { counts[name, default: 0] += times } }

    func count(_ world: SimulatedWorld.Strikes) {
        count("network: connections", Int(world.connections))
        count("network: slow", Int(world.slow))
        count("network: refused", Int(world.refused))
        count("network: unanswered", Int(world.unanswered))
        count("network: reset", Int(world.reset))
        count("network: cut", Int(world.cut))
        count("network: silent", Int(world.silent))
        count("network: stalled", Int(world.stalled))
    }

    package func add(_ other: Strikes) { counts.merge(other.counts, uniquingKeysWith: +) }
}
