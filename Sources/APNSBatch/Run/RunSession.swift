import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending

/// One session of a run: its threads, from the first to the last. The campaign's thread starts the others, joins them, and makes the summary
/// (``RunFinish``).
package final class RunSession: Sendable {
    package let facts: RunFacts
    let place: RunPlace
    package let panel: RunPanel
    package let meter: RunMeter
    /// The queue from the reader to the lanes.
    package let chunks: BoundedQueue<InputChunk>
    let results = Guarded(OfferedResults())
    private let addresses: AddressBook
    /// Makes the rows of a program; nil if the rows are read.
    private let production: RowProduction?
    /// Nil if metrics are discarded.
    let metrics: MetricsRecorder?

    /// Takes the place of a planned run.
    init(_ plan: RunPlan, _ request: RunRequest) throws(CampaignError) {
        let rate: RunRate
        facts = plan.facts
        (place, rate) = try plan.take()
        panel = RunPanel(facts, rate)
        meter = RunMeter(facts, panel)
        chunks = BoundedQueue(capacity: facts.reader.reader.bufferCount)
        addresses = AddressBook(
            host: facts.plan.peer.host, port: facts.plan.peer.port, surroundings: request.surroundings)
        production = request.production
        metrics = MetricsRecorder(request.metrics, name: facts.name, start: Figures(run: RunMeasurements(meter.look())))
    }

    deinit { results.withLock { $0.end() } }

    // MARK: From the first thread to the last

    /// Sends what is left of the rows, and returns the summary. It is called once.
    func send() async -> CampaignSummary {
        defer { results.withLock { $0.end() } }
        guard let span = RunSpan.begin(name: facts.name, id: CampaignID(facts.header.identity)) else {
            return await sendToEnd()
        }
        panel.trace(span)
        facts.plan.log.tell { span.note($0, $1) }
        let summary = await span.whileCurrent { await sendToEnd() }
        facts.plan.log.tell(nil)
        panel.trace(nil)
        span.end(with: summary, meter.look(), panel.failure)
        return summary
    }

    private func sendToEnd() async -> CampaignSummary {
        await withTaskGroup { group in
            if let production, !facts.isInputRead {
                let taken = facts.past?.reading.history.rows ?? 0
                group.addTask { await production.run(taken: taken) }
            }
            let summary = await Shutdown.handled(work, atOnce: panel.control.stopAtOnce, inOrder: panel.stop)
            // A program that has more rows learns that none is taken, even while it waits for the next one.
            facts.reader.cancel()
            group.cancelAll()
            return summary
        }
    }

    private func work() async -> CampaignSummary {
        do throws(ThreadError) {
            return try await NamedThread.value("campaign") { [self] in runToEnd() }
        } catch {
            panel.fail(error)
            place.ledger.unlock()
            return finish.summarize(finish.nothingDone)
        }
    }

    private var finish: RunFinish { RunFinish(facts: facts, place: place, panel: panel, meter: meter) }

    /// Runs on the campaign's own thread.
    private func runToEnd() -> CampaignSummary {
        // Until the last file is written: the next holder of the lock finds all of them as this run leaves them.
        defer { place.ledger.unlock() }
        let finish = finish
        var isOurs = false
        var account = finish.nothingDone
        do throws(CampaignError) {
            try RunRecord.confirm(place.ledger, isAsReadBy: facts.past, name: place.directory)
            isOurs = true
            if let past = facts.past, facts.wasComplete { return finish.again(past) }
            meter.start()
            account = finish.completed(try sendAll(openRecord()))
        } catch {
            panel.fail(error)
        }
        return isOurs ? finish.ended(account) : finish.summarize(account)
    }

    private func sendAll(_ record: RunRecord) -> SessionAccount {
        let crew = makeCrew(record)
        let writer = makeWriter(record, crew)
        recordTimeline {
            do throws(ThreadError) {
                let writing = try NamedThread("writer") { writer.run() }
                let lanes = sendRows(crew, record)
                panel.journal.close()
                crew.exchange.filled.close()
                writing.join()
                lanes.join()
            } catch {
                panel.fail(error)
            }
        }
        panel.control.notifyNobody()
        return SessionAccount(
            tally: record.account.tally, reasons: record.account.reasons,
            figures: writer.lastFigures ?? meter.figures(withLanes: true), loop: crew.loop,
            ledgerSeconds: record.ledger.cpuSeconds, tokens: record.account.tokens,
            status: panel.control.stopCause == nil ? nil : finish.status(record.ledger))
    }

    /// Runs the reader and the lanes. Returns when the reader has ended and the lanes have passed on their last outcomes;
    /// they may still be saying goodbye to the servers.
    private func sendRows(_ crew: LaneCrew, _ record: RunRecord) -> ThreadGroup {
        do throws(ThreadError) {
            let reading = try NamedThread("reader") { [self] in
                makeFeed(record).run(control: panel.control, wake: crew.wake)
                if let warning = facts.reader.additionWarning { facts.plan.log.logger.warning("\(warning)") }
            }
            let lanes = crew.start()
            crew.waitForOutcomes(of: lanes)
            facts.reader.cancel()
            chunks.close()
            reading.join()
            return lanes
        } catch {
            panel.fail(error)
            return ThreadGroup()
        }
    }

    /// Calls `body`, which does the work of the session, and records the timeline and the metrics meanwhile. A timeline that
    /// cannot be written causes a warning, and the run continues.
    private func recordTimeline(during body: () -> Void) {
        let warn = { @Sendable [facts] (cause: String) in
            facts.plan.log.logger.warning("\(cause): the run continues, but its timeline has gaps")
        }
        let sampler = TimelineSampler(
            meter, session: facts.sessionNumber, place.timeline(of: facts, warn: warn), metrics, warn: warn)
        guard sampler.hasReceivers else { return body() }
        do throws(ThreadError) {
            let sampling = try NamedThread("timeline") { sampler.sample() }
            body()
            sampler.end()
            sampling.join()
        } catch {
            warn("\(error)")
            body()
        }
    }

    // MARK: The parts, which threads run, or a simulation in their place

    /// Creates or continues the record of the run.
    package func openRecord() throws(CampaignError) -> RunRecord {
        if let spooled = facts.input.spooled { try place.attach(spooled, facts) }
        let session = facts.session(boot: place.files.boot, sendsNothing: panel.control.isAbandoned)
        let opening = RunRecord.Opening(
            files: place.files, name: place.directory, header: facts.header, session: session, past: facts.past,
            ledger: place.ledger, slots: facts.reader.reader.bufferCount, lineBytes: facts.plan.surroundings.lineBytes)
        let record = try RunRecord.open(
            opening, warn: { [log = facts.plan.log] text in log.logger.warning("\(text)") },
            stop: { [panel] error in panel.fail(error) })
        panel.journal.open(record.ledger)
        return record
    }

    /// Creates the lanes, which a stop wakes from then on.
    package func makeCrew(_ record: RunRecord) -> LaneCrew {
        let (surroundings, reader) = (facts.plan.surroundings, facts.reader)
        let crew = LaneCrew(
            plan: facts.plan, control: panel.control, gauges: meter.gauges, addresses: addresses,
            providers: facts.providers, input: .chunks(chunks, of: reader, record.ledger.handOvers), rate: panel.rate,
            exchange: OutcomeExchange(
                lanes: facts.lanes, each: surroundings.batchesPerLane, entries: surroundings.outcomesPerBatch,
                results: results.withLock { $0.begin() }),
            watchesRows: facts.watchesRows, rowsLeft: { [meter] in meter.look().rowsLeft })
        panel.control.notify { [reader, chunks] in
            reader.cancel()
            chunks.close()
            // Not even a program that has stopped taking its results holds up the end.
            crew.exchange.waitNoLonger()
            crew.wake()
        }
        return crew
    }

    /// Creates the reader's part, which feeds the lanes.
    package func makeFeed(_ record: RunRecord) -> ChunkFeed {
        let judge = facts.judgeOfChunks
        return ChunkFeed(
            facts.reader, to: chunks, record: record, past: facts.past?.ranges ?? [],
            judge: judge.map { judge in { judge.refusal(of: $0, isLast: $1) } })
    }

    /// Creates the writer, which receives outcomes from the lanes.
    package func makeWriter(_ record: RunRecord, _ crew: LaneCrew) -> OutcomeWriter {
        OutcomeWriter(
            record, exchange: crew.exchange, interval: facts.syncInterval.nanoseconds,
            figures: { [meter] in meter.figures(withLanes: $0) })
    }
}
