import APNSBatchBasics
import APNSBatchModel
import APNSBatchSending
import APNSBatchTransport
import Logging

/// The lanes of a sender for one kind of notification: for devices, or for the channels of one app.
package final class SendEngine: Sendable {
    package let mailbox: Mailbox
    private let plan: CampaignPlan
    private let control = RunControl()
    private let providers: ProviderDirectory
    let gauges: [LaneGauges]
    private let crew: LaneCrew

    /// - Parameters:
    ///   - id: The identity from which message ids are derived; nil for a random one.
    ///   - onChange: Called by the lanes when their figures have changed; see ``LaneGauges``.
    package init(
        _ configuration: Sender.Configuration, id: CampaignID? = nil, to recipients: Campaign.Recipients, rate: RunRate,
        logger: Logger,
        onChange: (@Sendable () -> Void)? = nil, surroundings: Surroundings
    ) throws(CampaignError) {
        var campaign = try configuration.campaign()
        (campaign.id, campaign.recipients) = (id, recipients)
        let facts = InputFacts.ofSender(to: recipients)
        plan = try CampaignPlan(campaign, input: facts, logger: logger, limits: .ofSender, surroundings: surroundings)
        providers = try ProviderDirectory(campaign, plan: plan)
        let lanes = configuration.lanes
        gauges = (0..<lanes).map { _ in LaneGauges(onChange: onChange) }
        mailbox = Mailbox(lanes: lanes, most: configuration.pending)
        crew = LaneCrew(
            plan: plan, control: control, gauges: gauges,
            addresses: AddressBook(host: plan.peer.host, port: plan.peer.port, surroundings: surroundings),
            providers: providers, input: .mailbox(mailbox, columns: facts.columns.count), rate: rate,
            exchange: OutcomeExchange(lanes: lanes) { [mailbox, plan] in
                unsafe Self.resume(mailbox.end($0, campaign: plan.identity))
            })
    }

    deinit { mailbox.end() }

    /// Resumes tasks after the ends of a batch. A task resumes many of them, because to resume one from the lane's thread wakes
    /// a thread of Swift's pool each time, which interrupts the lane if they share a processor.
    private static func resume(_ waiting: [WaitingTask]) {
        if unsafe waiting.count > resumedByLane {
            Task { unsafe waiting.resumeAll() }
        } else {
            unsafe waiting.resumeAll()
        }
    }

    /// The largest number of tasks that the lane resumes itself, without a detour.
    private static let resumedByLane = 8

    /// Runs the lanes until the mailbox is closed and nothing is pending, or until ``stopAtOnce()``.
    func work() async {
        begin()
        do throws(ThreadError) {
            try await NamedThread.value("sender") { [crew] in crew.run() }
        } catch {
            control.stop(.failure(CampaignError(.system, "\(error)", cause: error)))
        }
        end()
    }

    /// Connects the mailbox with the lanes, which are about to run.
    package func begin() {
        mailbox.attach(wake: crew.wake, explain: { [gauges] in Self.explain(gauges) })
        control.notify { [crew] in crew.wake() }
    }

    /// Creates a lane on the calling thread, which must be the one that runs it.
    package func makeLane(_ number: Int) throws(TransportError) -> DrivenLane { try crew.makeLane(number) }

    /// Ends what is pending after the lanes.
    package func end() {
        control.notifyNobody()
        mailbox.detach()
        mailbox.end()
    }

    package func stopAtOnce() { control.stopAtOnce() }

    /// Takes no further notification. Those that it has are sent while there is time for their answers.
    ///
    /// - Parameter grace: The time until which the rest ends with an error, in nanoseconds.
    package func close(now: UInt64, grace: UInt64) {
        let answers = gauges.reduce(into: AnswerTimeCounts()) { $1.answers.add(to: &$0) }
        mailbox.close(now: now, grace: grace, answers: answers)
    }

    /// Why the lanes ended; nil if they did not fail.
    package var failure: CampaignError? {
        if case .failure(let error) = control.stopCause { error } else { nil }
    }

    package func replaceCredentials(_ providers: [Campaign.Provider]) throws(CampaignError) -> [Int] {
        let changed = try self.providers.replace(providers)
        crew.wake()
        return changed
    }

    /// What the lanes show.
    func add(to progress: inout CampaignProgress) {
        for gauge in gauges { gauge.add(to: &progress, withAccount: false) }
    }

    /// The number of times that the lanes have looked at their connections.
    var turns: UInt64 { gauges.reduce(0) { $0 + $1.turns } }

    /// Why notifications wait; nil if they do not, or not because of connections.
    var waiting: String? { Self.explain(gauges) }

    private static func explain(_ gauges: [LaneGauges]) -> String? {
        for gauge in gauges {
            guard case .waiting(let reason) = gauge.activity else { continue }
            if case .unreachable(let cause, _) = reason { return cause }
            return "\(reason)"
        }
        return nil
    }
}

extension [WaitingTask] {
    /// Lets all of them go on.
    func resumeAll() { unsafe forEach { unsafe $0.resume() } }
}
