import APNSBatch
import APNSBatchModel
import APNSBatchSending
import APNSBatchTransport

/// A sender in one thread for a simulation, whose caller drives it turn by turn: the lanes and the mailbox of a sender, without
/// its threads.
final class SteppedSender {
    private let engine: SendEngine
    private var lanes: [DrivenLane?] = []
    /// The number of turns of all lanes.
    private(set) var turns = 0
    /// Whether all lanes have ended.
    private(set) var isFinished = false
    /// Why a lane ended that should not have.
    private(set) var failure: String?

    /// - Parameter lanes: The number of lanes of the engine.
    init(_ engine: SendEngine, lanes: Int) throws(TransportError) {
        self.engine = engine
        engine.begin()
        for number in 0..<lanes { self.lanes.append(try engine.makeLane(number)) }
    }

    /// Runs one turn of the lane whose transport has this number in the simulated world.
    func turn(of number: UInt32) {
        guard let index = lanes.firstIndex(where: { $0?.number == number }), let lane = lanes[index] else {
            return
        }
        turns += 1
        do {
            if try lane.turn() { return }
        } catch {
            failure = "\(error)"
        }
        lane.finishUp()
        lanes[index] = nil
        guard lanes.allSatisfy({ $0 == nil }) else { return }
        engine.end()
        failure = failure ?? engine.failure.map { "\($0)" }
        isFinished = true
    }
}
