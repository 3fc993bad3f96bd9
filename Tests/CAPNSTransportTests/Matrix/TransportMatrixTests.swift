import APNSBatchTestSupport
import Testing

/// Every violation at every place for a transport, in memory and over sockets with each loop.
@Suite("Violations of HTTP/2, for a transport", .ownThread, .serialized)
struct TransportMatrixTests {
    @Test("Every violation at every place, in memory", arguments: HostileServer.Place.allCases)
    func inMemory(place: HostileServer.Place) throws {
        for violation in Violation.all {
            for split in HostileServer.Split.few(of: violation.count) {
                for finding in try TransportRun.findings(violation, place, split) {
                    Issue.record("\(violation.name), \(place), \(split.testDescription): \(finding)")
                }
            }
        }
    }

    @Test(
        "Every violation at every place, over sockets", arguments: Loop.available, HostileServer.Place.allCases)
    func overSockets(loop: Loop, place: HostileServer.Place) throws {
        for (number, violation) in Violation.all.enumerated() {
            // Each loop has the split that the other one has for the next violation.
            let splits: [HostileServer.Split.Joint] = [.before, .none]
            let joint = splits[(number + Int(loop.rawValue)) % 2]
            let split = HostileServer.Split(
                joint: joint, cuts: number % 4 < 2 || violation.count < 2 ? [] : [violation.count / 2])
            for finding in try TransportRun.findings(violation, place, split, loop: loop) {
                Issue.record("\(violation.name), \(place), \(split.testDescription), \(loop): \(finding)")
            }
        }
    }
}
