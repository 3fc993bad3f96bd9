import APNSBatchBasics
import CAPNSTransport
import CAPNSTransportServer

/// The main loop, which takes received requests from the transport, checks them, and answers them at once or later. It
/// is used only on the thread that created it.
@safe struct SimulatorServer: ~Copyable {
    let transport: OpaquePointer
    private let clock: @Sendable () -> Int64
    private let isSandbox: Bool
    private let eventCapacity: Int
    private let teamIDs: [String]
    /// The number of requests with a valid provider token, by the index of the team.
    private var teamRequests: [UInt64]
    private let received: UnsafeMutablePointer<apns_transport_received>
    private let events: UnsafeMutablePointer<apns_transport_event>
    private var check: RequestCheck
    private let slices: ScriptSlices
    private(set) var answers: AnswerTable
    private var time: AnswerTime
    private var limiter: RateLimiter?
    private var ids: SplitMix64
    var connections = ConnectionTable()
    private var queue = AnswerQueue()
    var batch = ResponseBatch(capacity: SimulatorServer.receivedCapacity)
    private var counts = TokenCounts()
    /// Nil unless it is to be written.
    private var arrivals: ArrivalLog?
    /// The additional fields of delayed answers about channels.
    var replies = Slots<ChannelReply>()
    private var date = DateField()
    private var now: Int64
    var report = SimulatorReport()
    var open = 0
    var faults: FaultPlan
    var cuts: FaultCuts
    /// The faults of delayed answers.
    var treatments = Slots<FaultTreatment>()
    /// Whether the listeners must be opened again at the next opportunity.
    var isDeaf = false
    let configuration: SimulatorConfiguration
    let ports: Ports

    private static var receivedCapacity: Int { 1024 }

    /// - Parameters:
    ///   - transport: a listening transport, which the caller destroys after this value.
    ///   - keys: the provider keys of the configuration, which were read.
    ///   - ports: the ports on which it listens.
    init(
        _ transport: OpaquePointer, _ configuration: SimulatorConfiguration, _ keys: [ProviderKey], _ ports: Ports
    ) {
        unsafe self.transport = unsafe transport
        self.configuration = configuration
        self.ports = ports
        faults = FaultPlan(configuration.script.faults, streams: configuration.streams)
        cuts = FaultCuts(configuration.script.faults)
        unsafe FaultHands.layOut(&cuts, on: transport)
        let script = configuration.script
        let clock = configuration.clockWithOffset
        self.clock = clock
        now = clock()
        isSandbox = configuration.environment == .sandbox
        // The state of a connection must be known before its first request.
        eventCapacity = max(256, 4 * Int(configuration.connections))
        // Keys are numbered, and the index of a team is that of its first key among the teams.
        teamIDs = keys.reduce(into: []) { ids, key in if Int(key.team) == ids.count { ids.append(key.teamID) } }
        teamRequests = Array(repeating: 0, count: teamIDs.count)
        unsafe received = .allocate(capacity: Self.receivedCapacity)
        unsafe events = .allocate(capacity: eventCapacity)
        check = RequestCheck(
            keys: keys,
            limits: ProviderTokenLimits(
                lifetimeMilliseconds: configuration.tokenLifetime * 1000,
                updateIntervalMilliseconds: configuration.tokenUpdateInterval * 1000,
                clockToleranceMilliseconds: configuration.clockTolerance * 1000),
            topics: configuration.topics,
            channels: ChannelSettings(
                apps: configuration.broadcastApps, maximum: configuration.channelsMaximum,
                knowsAll: configuration.knowsAllChannels,
                seed: script.seed ^ UInt64(bitPattern: now) ^ 0x6368_616E_6E65_6C73),
            certificateAnswer: configuration.certificateFault == .none ? .accepted : .badCertificateEnvironment)
        slices = ScriptSlices(script)
        answers = AnswerTable(script, started: now)
        time = AnswerTime(script)
        limiter = script.rateLimit.map(RateLimiter.init)
        arrivals = configuration.arrivalsPath == nil ? nil : ArrivalLog()
        ids = SplitMix64(seed: script.seed ^ UInt64(bitPattern: now))
        report.loop = unsafe Self.loopName(transport)
    }

    deinit {
        unsafe received.deallocate()
        unsafe events.deallocate()
    }

    private static func loopName(_ transport: OpaquePointer) -> String {
        switch unsafe apns_transport_loop_kind(transport) {
        case APNS_TRANSPORT_LOOP_IO_URING.rawValue: "io_uring"
        case APNS_TRANSPORT_LOOP_EPOLL.rawValue: "epoll"
        default: "simulated"
        }
    }

    /// Polls once, and checks and answers what was received. Returns false when the event loop failed.
    mutating func turn() -> Bool {
        var io = unsafe apns_transport_poll_io()
        unsafe io.events = unsafe events
        unsafe io.received = unsafe received
        unsafe io.event_capacity = UInt32(eventCapacity)
        unsafe io.received_capacity = UInt32(Self.receivedCapacity)
        unsafe io.timeout_us = timeout()
        let (begin, waits) = arrivals == nil ? (0, 0) : (unsafe apns_transport_now_ns(transport), ArrivalLog.waits())
        let status = unsafe apns_transport_poll(transport, &io)
        guard status == 0 else {
            report.failures.append("the loop failed with status \(status)")
            return false
        }
        now = clock()
        let tick = unsafe apns_transport_now_ns(transport)
        unsafe noteAccepted(Int(io.event_count), tick: tick)
        unsafe noteOpened(Int(io.received_count))
        unsafe arrivals?.note(Int(io.received_count), from: begin, to: tick, waited: ArrivalLog.waits() > waits)
        for index in unsafe 0..<Int(io.received_count) { unsafe handle(received + index, tick: tick) }
        while let answer = queue.popDue(by: tick) { add(answer) }
        respond()
        sufferDue(by: tick)
        unsafe forgetClosed(Int(io.event_count))
        return true
    }

    /// Writes the files, and returns the report.
    mutating func finish() -> SimulatorReport {
        if let path = configuration.countsPath, let failure = counts.write(toCSV: path) {
            report.failures.append(failure)
        }
        if let path = configuration.arrivalsPath, let failure = arrivals?.write(toCSV: path) {
            report.failures.append(failure)
        }
        return currentReport()
    }

    /// Returns the counts until now.
    func currentReport() -> SimulatorReport {
        var report = report
        report.answers = answers.counts()
        report.tokens = counts.distinct
        report.tokensReceivedAgain = counts.receivedAgain
        report.connections = connections.total
        report.connectionsWithTwoTeams = check.providerTokens.connectionsWithTwoTeams
        report.tokensTooEarly = unsafe answers.entries[AnswerTable.number(.tooManyProviderTokenUpdates)].given
        report.tokensExpired = unsafe answers.entries[AnswerTable.number(.expiredProviderToken)].given
        report.teams = zip(teamIDs, teamRequests).map { .init(teamID: $0, requests: $1) }
        report.channels = check.channels.count
        report.faults = faultCounts()
        return report
    }

    /// Returns the time until the next answer is due, in microseconds, rounded up to milliseconds.
    private func timeout() -> UInt32 {
        if isDeaf { return 5000 }
        let next = min(queue.nextTime, faults.nextTime)
        guard next != .max else { return .max }
        let now = unsafe apns_transport_now_ns(transport)
        guard next > now else { return 0 }
        return UInt32(clamping: (next - now + 999_999) / 1_000_000 * 1000)
    }

    private mutating func handle(_ request: UnsafeMutablePointer<apns_transport_received>, tick: UInt64) {
        let request = unsafe request.pointee
        let treatment = unsafe faults.isEmpty ? FaultTreatment() : suffer(request, tick: tick)
        guard treatment.way == .usual || treatment.way == .unanswered else {
            unsafe forgo(request, treatment.way)
            return
        }
        let fate = configuration.probe?.fate() ?? .answered
        if fate == .refused {
            unsafe refuse(request)
            return
        }
        let place = unsafe connections.place(of: request.connection)
        let verdict = unsafe check.judge(
            fields: UnsafeBufferPointer(start: request.fields, count: Int(request.field_count)),
            body: treatment.isEarly ? Self.bodyNotRead : Bytes(request.body, length: request.body_length),
            bodyTotal: treatment.isEarly ? Self.bodyNotRead.count : Int(request.body_total),
            on: &connections.states[place].identity, now: now)
        if verdict.isAuthorized, case let team = Int(connections.states[place].identity.team), team >= 0 {
            teamRequests[team] += 1
        }
        let (number, delay) = decide(verdict, storm: treatment.storm, tick: tick)
        answers.countGiven(number)
        report.requests += 1
        if let probe = configuration.probe { unsafe tell(probe, request, verdict, number) }
        if fate == .forgotten { return }
        guard treatment.way == .usual else {
            unsafe forgo(request, .unanswered)
            return
        }
        var answer = unsafe PendingAnswer(
            connection: request.connection, stream: request.stream, number: UInt32(number),
            isAuthorized: verdict.isAuthorized, isAboutChannels: verdict.isAboutChannels,
            reply: verdict.isAboutChannels && verdict.isAuthorized && check.reply != ChannelReply()
                ? replies.insert(check.reply) : -1,
            treatment: treatment.isUnusual ? treatments.insert(treatment) : -1,
            id: messageID(verdict))
        if case .reset(let code) = fate { answer.reset = code }
        let isAtOnce = delay.map { $0 == 0 } ?? time.isAtOnce
        guard !isAtOnce || treatment.delay > 0 else { return add(answer) }
        let due = isAtOnce ? tick : delay.map { tick + $0 } ?? time.next(after: tick)
        queue.insert(answer, at: due + treatment.delay)
    }

    /// Resets a request with REFUSED_STREAM, which means that it was not processed (RFC 9113, section 8.7).
    private mutating func refuse(_ request: apns_transport_received) {
        if let place = unsafe connections.find(request.connection) { connections.states[place].open -= 1 }
        open -= 1
        unsafe batch.addReset(connection: request.connection, stream: request.stream, code: 7)
        if batch.isFull { respond() }
    }

    private func tell(
        _ probe: any SimulatorProbe, _ request: apns_transport_received, _ verdict: Verdict, _ number: Int
    ) {
        probe.judged(
            unsafe JudgedRequest(
                fields: UnsafeBufferPointer(start: request.fields, count: Int(request.field_count)),
                deviceToken: verdict.deviceToken, body: Bytes(request.body, length: request.body_length),
                bodyTotal: Int(request.body_total), status: answers.entries[number].status,
                reason: answers.reason(of: number)))
    }

    /// Counts all requests of one poll as open before the first of them is answered.
    private mutating func noteOpened(_ count: Int) {
        for index in 0..<count {
            let place = unsafe connections.place(of: received[index].connection)
            connections.states[place].open += 1
            report.mostStreams = max(report.mostStreams, connections.states[place].open)
        }
        open += count
        report.mostStreamsTotal = max(report.mostStreamsTotal, open)
    }

    /// Counts the token, and returns the index of the answer and the delay that a probe has chosen for it, in nanoseconds; nil
    /// for that of the script.
    private mutating func decide(_ verdict: Verdict, storm: Int32, tick: UInt64) -> (number: Int, delay: UInt64?) {
        if let (channel, app) = unsafe verdict.broadcast { return unsafe (decide(broadcast: channel, app: app), nil) }
        guard let token = unsafe verdict.deviceToken else { return (AnswerTable.number(verdict.answer), nil) }
        let place = unsafe counts.receive(token)
        guard verdict.answer == .accepted else { return (AnswerTable.number(verdict.answer), nil) }
        if verdict.facts.contains(.blanks) { report.payloadsWithBlanks += 1 }
        let chosen = unsafe configuration.probe?.answer(toDevice: token)
        let number =
            if let chosen { answers.number(chosen: chosen.rule) } else {
                unsafe scripted(token, place, storm: storm, tick: tick)
            }
        if unsafe answers.entries[number].status == 200 {
            counts.accept(place)
            report.accepted += 1
        }
        return (number, chosen?.delay)
    }

    /// Returns the index of the script's answer to a request that passed every check.
    private mutating func scripted(_ token: Bytes, _ place: TokenCounts.Place, storm: Int32, tick: UInt64) -> Int {
        if storm >= 0 { return answers.number(storm: storm) }
        if limiter?.refuses(at: tick) == true { return answers.numberOfRateLimit }
        let rule = unsafe slices.rule(for: token, earlier: counts.pass(place))
        return rule < 0 ? AnswerTable.number(.accepted) : AnswerTable.number(rule: rule)
    }

    mutating func take(perSecond: Int) { limiter?.limit.perSecond = perSecond }

    /// Returns the index of the script's answer to a broadcast that passed every check.
    private mutating func decide(broadcast channel: Bytes, app: Bytes) -> Int {
        let rule = unsafe slices.rule(for: channel, earlier: check.channels.pass(channel, app: app))
        let number = rule < 0 ? AnswerTable.number(.accepted) : AnswerTable.number(rule: rule)
        unsafe report.broadcasts += answers.entries[number].status == 200 ? 1 : 0
        return number
    }

    /// Returns the request's own id, or a new one if it has no valid id.
    @inline(__always)
    private mutating func messageID(_ verdict: Verdict) -> MessageID {
        guard let id = unsafe verdict.messageID?.baseAddress else {
            return MessageID(high: ids.next(), low: ids.next())
        }
        return unsafe MessageID(id)
    }

    /// Adds an answer to the batch. The first one to a valid token raises the connection's stream limit.
    @inline(__always)
    private mutating func add(_ answer: PendingAnswer) {
        guard let place = connections.find(answer.connection) else {
            if answer.reply >= 0 { _ = replies.remove(answer.reply) }
            if answer.treatment >= 0 { _ = treatments.remove(answer.treatment) }
            return
        }
        connections.states[place].open -= 1
        open -= 1
        if let code = answer.reset {
            if answer.reply >= 0 { _ = replies.remove(answer.reply) }
            batch.addReset(connection: answer.connection, stream: answer.stream, code: code)
            if batch.isFull { respond() }
            return
        }
        let raises = answer.isAuthorized && !connections.states[place].isRaised
        let prepared = unsafe answers.entries[Int(answer.number)]
        guard answer.treatment < 0 else {
            writeByHand(answer, prepared)
            if raises { raise(answer.connection) }
            return
        }
        unsafe batch.add(
            connection: answer.connection, stream: answer.stream, status: prepared.status, body: prepared.body)
        let isFirst = !connections.states[place].isAnswered
        batch.add(answer.isAboutChannels ? "apns-request-id" : "apns-id", answer.id, isFirst: isFirst)
        if unsafe isFirst || isSandbox || answer.reply >= 0 || prepared.retryAfter.count > 0 {
            addFurther(answer, prepared, isFirst: isFirst)
        }
        connections.states[place].isAnswered = true
        if raises || batch.isFull { respond() }
        if raises { raise(answer.connection) }
    }

    /// Adds the optional fields. `date` is sent once per connection.
    private mutating func addFurther(_ answer: PendingAnswer, _ prepared: AnswerTable.Prepared, isFirst: Bool) {
        if isFirst { unsafe batch.add("date", date.bytes(now), isFirst: false) }
        if answer.reply >= 0 {
            batch.add(replies.remove(answer.reply), isFirst: isFirst)
        } else if isSandbox, prepared.status == 200 {
            batch.add("apns-unique-id", MessageID(high: ids.next(), low: ids.next()), isFirst: isFirst)
        }
        if unsafe prepared.retryAfter.count > 0 {
            unsafe batch.add("retry-after", prepared.retryAfter, isFirst: false)
        }
    }

    private mutating func raise(_ connection: UInt64) {
        guard let place = connections.find(connection) else { return }
        connections.states[place].isRaised = true
        guard !connections.states[place].isLimited else { return }
        _ = unsafe apns_transport_connection_streams_set(transport, connection, configuration.streams)
    }

    mutating func respond() {
        let status = unsafe batch.send(to: transport)
        if status != 0, report.failures.count < 16 {
            report.failures.append("answers were refused with status \(status)")
        }
    }

    /// Records new connections before their first requests are checked.
    private mutating func noteAccepted(_ count: Int, tick: UInt64) {
        for index in 0..<count where unsafe UInt32(events[index].kind) == APNS_TRANSPORT_EVENT_ACCEPTED.rawValue {
            let place = unsafe connections.place(of: events[index].connection)
            connections.states[place].identity.services = unsafe Services(
                rawValue: UInt8(truncatingIfNeeded: events[index].context))
            if !faults.isEmpty { unsafe beginFaults(events[index], tick: tick) }
            guard let uid = unsafe events[index].subjectUID else { continue }
            report.connectionsWithCertificate += 1
            connections.states[place].identity.certificate = check.certificate(uid: uid)
            unsafe welcome(events[index].connection)
        }
    }

    /// Raises the stream limit of a connection with a client certificate at once, or refuses the certificate.
    private mutating func welcome(_ connection: UInt64) {
        guard configuration.certificateFault == .goaway else {
            raise(connection)
            return
        }
        let text = Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8)
        _ = unsafe apns_transport_connection_goaway(transport, connection, 0, text, UInt32(text.count))
    }

    private mutating func forgetClosed(_ count: Int) {
        for index in 0..<count where unsafe UInt32(events[index].kind) == APNS_TRANSPORT_EVENT_DOWN.rawValue {
            unsafe open -= connections.remove(events[index].connection)?.open ?? 0
            unsafe noteEnd(events[index])
        }
    }
}
