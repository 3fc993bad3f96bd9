import APNSBatch
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import APNSBatchTransport

/// A run in one thread for a simulation, whose caller drives it turn by turn. It does the work of a run's threads in
/// steps, with the same lanes, reader, ledger and queues. Releasing it has the effect of killing the process: nothing
/// more is written.
package final class SteppedRun {
    private let session: RunSession
    private let record: RunRecord
    private let crew: LaneCrew
    private let writer: OutcomeWriter
    private var feed: ChunkFeed
    private var lanes: [DrivenLane?] = []
    private var isRead = false
    /// The number of requests that lanes have handed to connections, including those that did not leave.
    package private(set) var handedOver = 0

    /// - Throws: ``CampaignError`` with `results`.
    package init(_ run: CampaignRun) throws(CampaignError) {
        session = run.session
        record = try session.openRecord()
        crew = session.makeCrew(record)
        writer = session.makeWriter(record, crew)
        feed = session.makeFeed(record)
        do {
            for number in session.meter.gauges.indices { lanes.append(try crew.makeLane(number)) }
        } catch {
            throw CampaignError(.system, "\(error)")
        }
    }

    deinit { session.panel.control.notifyNobody() }

    /// Whether all rows have their outcomes, or the run stopped.
    package private(set) var isFinished = false

    /// Runs one turn of the lane whose transport has this number in the simulated world.
    ///
    /// - Parameter now: The time in the simulated world, in nanoseconds.
    package func turn(of number: UInt32, now: UInt64) {
        guard let index = lanes.firstIndex(where: { $0?.number == number }), let lane = lanes[index]
        else {
            return
        }
        // A lane waits for the writer when the writer is far behind, which would take forever in a single thread.
        while crew.exchange.free.isEmpty, writer.step(now: now) {}
        let before = lane.handedOver
        defer { handedOver += lane.handedOver - before }
        do {
            if try lane.turn() { return }
        } catch {
            session.panel.control.stop(.failure(CampaignError(.system, "\(error)")))
        }
        while writer.step(now: now) {}
        lane.finishUp()
        lanes[index] = nil
        if lanes.allSatisfy({ $0 == nil }) { finish(now: now) }
    }

    /// Does pending work of the other threads: announces chunks and writes outcomes.
    package func step(now: UInt64) {
        guard !isFinished else { return }
        read()
        _ = writer.step(now: now)
    }

    private func read() {
        guard !isRead, session.facts.reader.reader.freeBuffers > 0 else { return }
        do throws(CampaignError) {
            let hasMore = session.panel.control.stopping ? false : try feed.step()
            isRead = !hasMore
        } catch {
            session.panel.control.stop(.failure(error))
            isRead = true
        }
        if isRead { session.chunks.close() }
        crew.wake()
    }

    private func finish(now: UInt64) {
        session.facts.reader.cancel()
        session.chunks.close()
        crew.exchange.filled.close()
        while writer.step(now: now) {}
        writer.end()
        isFinished = true
    }
}
