/// How often what happened, so that a fault that never strikes is seen.
package final class Strikes: @unchecked Sendable {
    package private(set) var counts: [String: Int] = [:]

    package init() {}

    func count(_ name: String, _ times: Int = 1) { if times > 0 { counts[name, default: 0] += times } }

    package func add(_ other: Strikes) { counts.merge(other.counts, uniquingKeysWith: +) }
}
