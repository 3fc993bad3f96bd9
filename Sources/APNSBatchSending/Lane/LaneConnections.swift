import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTransport

/// The connections of a lane. Carries out the actions of the connection pools, and reports the results to them.
///
/// Each provider has its own pool and credentials, so that a connection serves only one team. For each member of a pool
/// there is a ``Connection`` with the state that only the lane needs. The host is looked up before each connection is
/// opened, and the lane continues meanwhile.
struct LaneConnections: ~Copyable {
    /// The lane's state of a connection, from the decision to open it to its end.
    struct Connection {
        /// Zero until the connection is opened.
        var id: ConnectionID = 0
        var address: SocketAddress?
        var token: Token?
        /// The content of GOAWAY; nil if none came.
        var goaway: String?
        /// The answer after which this program closes it; nil if there is none.
        var farewell: String?
        /// Its last answer 429 or 5xx.
        var trouble: Answer?
    }

    /// The provider token that a connection started with, and the source that minted it. After a reload the provider may
    /// have another source.
    struct Token {
        let source: ProviderTokenSource
        let token: ProviderTokenRotation.Token
    }

    private let plan: CampaignPlan
    private let control: RunControl
    /// See ``LaneOrigin/mayGiveUp``.
    private let mayGiveUp: Bool
    private let addresses: AddressBook
    private var lookUps: HostLookUps
    /// The number of GOAWAY frames.
    private(set) var goaways = 0
    private let account: Guarded<LaneAccount>
    private var transport: Transport
    private var credentials: LaneCredentials
    /// By provider, then by member of its pool. The index is the connection's context in the core.
    private var connections: Slab<Connection>
    /// The number of members of a pool.
    private let members: Int
    private var waitForWindows = false
    private var random: SplitMix64
    private(set) var now: UInt64
    /// The pools, by provider. The actions that they return are carried out by ``act(_:of:)``.
    var pools: Slab<ConnectionPool>

    init(
        _ plan: CampaignPlan, control: RunControl, addresses: AddressBook, directory: ProviderDirectory,
        account: Guarded<LaneAccount>, mayGiveUp: Bool
    ) throws(TransportError) {
        // Local variables, because a throwing initializer must not leave anything half made.
        var transport = try Transport(Self.options(plan))
        try transport.setTunnel(plan.tunnel)
        let credentials = try LaneCredentials(directory, trust: plan.trust, &transport)
        let (providers, now) = (plan.topics.providers, transport.now)
        var connections = Slab<Connection>(capacity: providers * plan.poolLimits.members)
        var pools = Slab<ConnectionPool>(capacity: providers)
        for _ in 0..<providers {
            pools.append(ConnectionPool(limits: plan.poolLimits, now: now))
            for _ in 0..<plan.poolLimits.members { connections.append(Connection()) }
        }
        precondition(plan.poolLimits.members <= Int(UInt16.max) + 1, "a flight has 16 bits for its member")
        (self.plan, self.control, self.addresses) = (plan, control, addresses)
        (self.account, self.mayGiveUp, self.now) = (account, mayGiveUp, now)
        (members, random) = (plan.poolLimits.members, SplitMix64(seed: plan.identity.0 ^ now))
        lookUps = HostLookUps(addresses, connections: connections.count)
        self.transport = transport
        self.credentials = credentials
        self.connections = connections
        self.pools = pools
    }

    /// Returns the number of streams that the core must have room for, up to its maximum.
    static func streams(_ plan: CampaignPlan) -> Int {
        min(1 << 20, plan.poolLimits.members * plan.topics.providers * plan.poolLimits.streams)
    }

    private static func options(_ plan: CampaignPlan) -> TransportOptions {
        var options = TransportOptions()
        options.loop = plan.loop
        if let open = unsafe plan.surroundings.open { unsafe options.open = unsafe open }
        // For the pools of all providers; their members include connections that drain.
        options.connections = plan.poolLimits.members * plan.topics.providers
        options.streams = streams(plan)
        options.requestTimeout = plan.requestTimeout
        options.userTimeout = UInt32(min(UInt64(Int32.max), plan.poolLimits.pingPatience / 1_000_000))
        options.captures = plan.hasUniqueIDs ? ["retry-after", "apns-unique-id"] : ["retry-after"]
        return options
    }

    // MARK: The transport

    var loop: LoopKind { transport.loop }
    var loopRefusal: Int32 { transport.refusal }
    var number: UInt32 { transport.number }
    var streamsFree: Int { transport.streamsFree }

    mutating func attach(_ waker: LaneWaker) { transport.attach(waker) }

    mutating func readClock() { now = transport.now }
    /// The time of this moment, which ``now`` may be behind.
    var clock: UInt64 { transport.now }

    mutating func submit(
        _ requests: UnsafeBufferPointer<RequestRecord>, _ sets: [(number: UInt16, fields: [HeaderFieldBytes])]
    ) throws(TransportError) {
        for (number, fields) in sets { try transport.defineHeaderSet(number, fields) }
        try unsafe transport.submit(requests)
    }

    mutating func poll(timeout: UInt32, linger: UInt32) throws(TransportError) -> Transport.Harvest {
        try transport.poll(timeout: timeout, linger: linger)
    }

    // MARK: What others ask

    var providers: Range<Int> { pools.indices }
    func access(_ provider: Int) -> ProviderAccess { credentials.access(provider) }
    func id(_ provider: Int, _ member: Int) -> ConnectionID { connections[index(provider, member)].id }

    /// Returns the sum of a number over all pools.
    func sum(_ number: (ConnectionPool) -> Int) -> Int { providers.reduce(0) { $0 + number(pools[$1]) } }

    /// Whether no connection is being opened, replaced or tested, so that nothing changes for many seconds without an event.
    var isQuiet: Bool { providers.allSatisfy { pools[$0].members.isQuiet } }

    /// Whether any connection is established.
    var isUp: Bool { providers.contains { pools[$0].up > 0 } }

    var haveStream: Bool { providers.contains { pools[$0].hasStream } }

    /// Why there is no stream; of several providers, for the one with most requests in flight.
    var shortage: CampaignProgress.Hold {
        let busiest = providers.max { pools[$0].inFlight < pools[$1].inFlight } ?? 0
        return switch pools[busiest].shortage {
        case .connections: .connections
        case .streams, nil: waitForWindows ? .windows : .streams
        case .answers: waitForWindows ? .windows : .answers
        }
    }

    /// Looks whether bodies wait for the windows of most connections. Called every few milliseconds.
    mutating func lookAtWindows() {
        var (up, waiting) = (0, 0)
        for provider in providers {
            for member in 0..<members where pools[provider].members[member].isUp {
                up += 1
                waiting += transport.waitsForWindow(id(provider, member)) ? 1 : 0
            }
        }
        waitForWindows = waiting > 0 && 2 * waiting >= up
    }

    private func index(_ provider: Int, _ member: Int) -> Int { provider * members + member }

    /// Why rows of this provider wait, or nil if the connections are not the cause.
    func waiting(_ provider: Int) -> CampaignProgress.Waiting? {
        guard let reason = pools[provider].waiting(now: now) else { return nil }
        guard case .connecting(_, let seconds) = reason, let member = pools[provider].members.opening else {
            return reason
        }
        if lookUps.isWaiting(index(provider, member)) { return .resolving(name: addresses.host) }
        let stage =
            switch transport.stage(of: id(provider, member)) {
            case .connecting where !plan.tunnel.isEmpty: "a TCP connection to the proxy \(plan.proxy)"
            case .connecting: "a TCP connection to \(plan.endpoint)"
            case .tunneling: "the answer of the proxy \(plan.proxy)"
            case .handshaking: "the TLS handshake with \(plan.endpoint)"
            case .settling: "the SETTINGS of \(plan.endpoint)"
            case .up, nil: "a connection"
            }
        return .connecting(stage: stage, seconds: seconds)
    }

    /// Moves the deadlines of the pools after this process stood still for `gap` nanoseconds.
    mutating func stoodStill(for gap: UInt64) {
        for provider in providers { pools[provider].stoodStill(for: gap, now: now) }
    }

    /// Opens connections whose look-up has ended, and carries out the actions of a provider's pool. Called every few
    /// milliseconds.
    ///
    /// - Parameters: The same as those of the pool's `tick`.
    mutating func tick(
        _ provider: Int, answered: UInt64, hasWork: Bool, isBusy: Bool, othersAnswer: Bool, hadAnswers: Bool,
        view: PoolHealth.View
    ) {
        openWhatIsKnown(provider)
        act(
            pools[provider].tick(
                now: now, answered: answered, hasWork: hasWork, isBusy: isBusy, othersAnswer: othersAnswer,
                hadAnswers: hadAnswers, view: view),
            of: provider)
        if !pools[provider].members.isChanging { credentials.forgetPrevious(provider, &transport) }
    }

    mutating func closeAll() {
        for index in connections.indices where connections[index].id != 0 { transport.close(connections[index].id) }
    }

    // MARK: Events

    /// Handles an event of a connection.
    mutating func act(on event: EventRecord) {
        let (provider, member) = unsafe Int(event.context).quotientAndRemainder(dividingBy: members)
        switch unsafe event.eventKind {
        case .up:
            unsafe plan.log.connected(event, access(provider))
            unsafe pools[provider].isUp(member, streams: Int(event.streams_max), now: now)
            if let address = connections[index(provider, member)].address { addresses.succeeded(address) }
        case .settings:
            unsafe plan.log.settings(event, access(provider))
            unsafe pools[provider].settings(member, streams: Int(event.streams_max), now: now)
        case .goaway:
            unsafe goaway(event, provider, member)
            let code = unsafe UInt32(truncatingIfNeeded: event.code)
            unsafe act(
                pools[provider].goaway(member, code: code, lastStream: event.last_stream, now: now), of: provider)
        case .pong: pools[provider].ponged(member, now: now)
        case .down: unsafe down(provider, member, event)
        case .woken, .accepted, nil: break
        }
    }

    /// Handles a GOAWAY. A fatal reason stops the campaign, unless other credentials can continue.
    private mutating func goaway(_ event: EventRecord, _ provider: Int, _ member: Int) {
        let access = access(provider)
        let debug = unsafe GoAwayDebug.parse(event.detailBytes)
        goaways += 1
        unsafe plan.log.goaway(event, debug, access)
        connections[index(provider, member)].goaway = unsafe debug.cause(code: event.code)
        guard debug.isFatal, case .reason(let reason) = debug,
            !survives("goaway: \(reason)", saidTo: member, of: provider), mayGiveUp
        else { return }
        let text = "\(plan.endpoint) closed the connection with \(reason)\(access.forCredentials)"
        control.stop(.failure(CampaignError(.fatalAnswer, text + (access.remedy(reason).map { ": \($0)" } ?? ""))))
    }

    private mutating func down(_ provider: Int, _ member: Int, _ event: EventRecord) {
        unsafe plan.log.disconnected(event, access(provider))
        // These fail the same way next time: a certificate that does not verify, a server without HTTP/2, a proxy that requires
        // another password.
        let hopeless =
            unsafe event.failureScope == .tls || event.saysNoHTTP2 || event.failureScope == .proxy && event.code == 407
        let gone = pools[provider].members[member]
        let text = unsafe failure(event, of: gone, at: connections[index(provider, member)].address, provider)
        if gone.cameUp {
            let cause = unsafe Self.cause(of: event, connections[index(provider, member)])
            account.withLock { $0.noteEnd(ofConnection: cause) }
        }
        forget(provider, member, inVain: gone.hasFailedToConnect)
        unsafe failed(provider, member, text, hopeless: hopeless, saysNothing: event.saysNothing)
    }

    /// Why a connection ended that had come up, for the account.
    private static func cause(of event: EventRecord, _ connection: Connection) -> String {
        if let goaway = connection.goaway { return goaway }
        guard unsafe event.saysClosedHere, let farewell = connection.farewell else { return unsafe event.detailText }
        return unsafe "\(event.detailText) after \(farewell)"
    }

    /// Returns what could not be connected to, or what broke, and why. If a proxy cannot be reached, the text names the proxy
    /// and not the server.
    private func failure(
        _ event: EventRecord, of gone: PoolMember, at address: SocketAddress?, _ provider: Int
    ) -> String {
        let name = access(provider).forName
        let text = address.map { "\($0)" } ?? ""
        // With the address, unless it is named anyway.
        func detail(unless name: String) -> String {
            unsafe text.isEmpty || text == name ? event.detailText : unsafe "\(text): \(event.detailText)"
        }
        if gone.cameUp { return "the connection to \(plan.endpoint)\(name) broke (\(detail(unless: plan.endpoint)))" }
        if plan.tunnel.isEmpty {
            return "cannot connect to \(plan.endpoint)\(name) (\(detail(unless: plan.endpoint)))"
        }
        let proxy = "the proxy \(plan.proxy)"
        return unsafe event.connectionStage == .connecting
            ? "cannot connect to \(proxy)\(name) (\(detail(unless: plan.proxy)))"
            : "cannot connect to \(plan.endpoint)\(name) through \(proxy) (\(detail(unless: plan.proxy)))"
    }

    private mutating func failed(
        _ provider: Int, _ member: Int, _ text: String, hopeless: Bool = false, saysNothing: Bool = false,
        isOwn: Bool = false
    ) {
        let failure = ConnectionFailure(
            isHopeless: hopeless && !addresses.everReached && mayGiveUp, addresses: addresses.count, text: text,
            saysNothing: saysNothing, isOwn: isOwn)
        act(pools[provider].isDown(member, failure: failure, now: now, jitter: random.unit()), of: provider)
    }

    // MARK: Actions

    /// Lets the pool judge the connection of an answer 429 or 5xx. Returns what is to blame.
    mutating func noteTrouble(
        _ answer: Answer, on member: Int, of provider: Int, isFirst: Bool, _ view: PoolHealth.View
    ) -> PoolHealth.Blame {
        connections[index(provider, member)].trouble = answer
        let evidence: ConnectionHealth.Evidence = answer.endsConnection ? .decisive : .usual
        let (blame, actions) = pools[provider].noteTrouble(member, isFirst: isFirst, evidence, view, now: now)
        act(actions, of: provider)
        return blame
    }

    /// Sends no further request on a connection because of its answers. The next one goes to another address, if there is one.
    private mutating func replace(_ member: Int, of provider: Int, _ sickness: ConnectionPool.Sickness) {
        let connection = connections[index(provider, member)]
        plan.log.replaced(connection.id, sickness, connection.trouble, access(provider), now: now)
        if let trouble = connection.trouble { connections[index(provider, member)].farewell = trouble.text }
        let time = now
        if let address = connection.address { addresses.withTable { $0.avoid(address, now: time) } }
        transport.drain(connection.id)
    }

    /// Sends no further request on a connection, and closes it when all of its requests are answered.
    ///
    /// - Parameter cause: What was the answer to one of them.
    mutating func retire(_ member: Int, of provider: Int, after cause: String) {
        connections[index(provider, member)].farewell = cause
        act(pools[provider].retire(member), of: provider)
    }

    private mutating func act(_ actions: [ConnectionPool.Action], of provider: Int) {
        for action in actions {
            switch action {
            case .open(let member): lookUp(provider, member, against: nil)
            case .race(let member, let other): lookUp(provider, member, against: other)
            case .drain(let member):
                if !forgetLookUp(provider, member) { transport.drain(id(provider, member)) }
            case .replace(let member, let sickness): replace(member, of: provider, sickness)
            case .close(let member):
                if forgetLookUp(provider, member) { continue }
                if pools[provider].members[member].cameUp {
                    plan.log.silent(id(provider, member), access(provider))
                }
                transport.close(id(provider, member))
            case .ping(let member): transport.ping(id(provider, member))
            case .giveUp(let cause):
                let isOwn = pools[provider].lastFailure?.isOwn == true
                control.stop(.failure(CampaignError(isOwn ? .system : .unreachable, cause)))
            }
        }
    }

    private mutating func lookUp(_ provider: Int, _ member: Int, against other: Int?) {
        let rivals = other == nil ? [] : racing(member, of: provider)
        lookUps.begin(index(provider, member), against: rivals, now: now)
        openWhatIsKnown(provider)
    }

    /// The addresses that are tried at the same time as that of a member, in the order of their members.
    private func racing(_ member: Int, of provider: Int) -> [SocketAddress] {
        pools[provider].members.racers(with: member).compactMap { connections[index(provider, $0)].address }
    }

    /// Opens the connections whose look-up has ended.
    private mutating func openWhatIsKnown(_ provider: Int) {
        for member in 0..<members {
            switch lookUps.take(index(provider, member), now: now) {
            case .waiting: break
            case .known(let address):
                connections[index(provider, member)].address = address
                open(provider, member, to: address)
            case .failed(let failure): failed(provider, member, failure)
            case .noRival: pools[provider].notOpened(member, until: now)
            }
        }
    }

    /// Cancels a member's look-up. Returns whether there was one; then there is no connection to close.
    private mutating func forgetLookUp(_ provider: Int, _ member: Int) -> Bool {
        guard lookUps.cancel(index(provider, member)) else { return false }
        forget(provider, member, inVain: false)
        pools[provider].notOpened(member, until: now)
        return true
    }

    private mutating func open(_ provider: Int, _ member: Int, to address: SocketAddress) {
        let access = access(provider)
        let tried = racing(member, of: provider)
        let racesAt = addresses.withTable { $0.hasOther(than: tried) } ? now + plan.poolLimits.raceAfter : nil
        do {
            switch try access.tokens?.lease() {
            case nil:
                try connect(provider, member, to: address)
                pools[provider].didOpen(member, generation: access.generation, racesAt: racesAt)
            case .token(let token, let authorization, let usableFor, let successorAfter):
                try connect(provider, member, to: address)
                pools[provider].didOpen(
                    member, generation: access.generation, tokenExpiresAt: now + usableFor,
                    successorDueAt: now + successorAfter, racesAt: racesAt)
                connections[index(provider, member)].token = access.tokens.map { Token(source: $0, token: token) }
                authorize(id(provider, member), authorization, access)
            case .expired(let text):
                forget(provider, member, inVain: false)
                failed(provider, member, text)
            case .wait(let pause):
                forget(provider, member, inVain: false)
                pools[provider].notAllowed(member, until: now + pause)
            }
        } catch let error as CampaignError {
            control.stop(.failure(error))
        } catch {
            plan.log.failed(error, access)
            forget(provider, member, inVain: false)
            failed(provider, member, "cannot connect to \(plan.endpoint)\(access.forName) (\(error))", isOwn: true)
        }
    }

    private mutating func connect(
        _ provider: Int, _ member: Int, to address: SocketAddress
    ) throws(TransportError) {
        let index = index(provider, member)
        connections[index].id = try transport.connect(
            to: address, host: plan.host, tls: credentials.tls(provider), context: UInt64(index))
    }

    /// Sets the provider token of a connection. If that fails, the connection is closed, since it is useless without a
    /// token; the pool is notified when the event of its end arrives.
    private mutating func authorize(
        _ connection: ConnectionID, _ authorization: SecretBytes, _ access: ProviderAccess
    ) {
        do {
            try transport.setField(RequestHeader.authorization.name, authorization, of: connection)
        } catch {
            plan.log.failed(error, access)
            transport.close(connection)
        }
    }

    /// Clears the state of a connection that has ended or was never opened, and releases its address.
    ///
    /// - Parameter inVain: Whether the address was tried and the connection never came up.
    private mutating func forget(_ provider: Int, _ member: Int, inVain: Bool) {
        let time = now
        if let address = connections[index(provider, member)].address {
            addresses.withTable { $0.release(address, failed: inVain, now: time) }
        }
        connections[index(provider, member)] = Connection()
    }

    // MARK: Credentials

    /// Carries out what an answer demands for the provider token of its connection. Returns false if the token cannot have
    /// expired, so that a clock must be wrong. The other connections that started with an expired token are retired, because
    /// they would get the same answer.
    mutating func renewToken(_ what: Retry.Token, of member: Int, _ provider: Int) -> Bool {
        guard what != .keep, let held = connections[index(provider, member)].token else { return true }
        guard what == .renew else {
            held.source.tooManyUpdates()
            return true
        }
        guard held.source.expired(held.token) else { return false }
        for other in 0..<members {
            guard let its = connections[index(provider, other)].token else { continue }
            guard its.source === held.source, its.token == held.token else { continue }
            retire(other, of: provider, after: "an expired provider token")
        }
        return true
    }

    /// Takes credentials that were replaced: new connections use them, and open connections get successors.
    mutating func reload() {
        for (provider, access) in credentials.replaced() {
            do {
                try credentials.replace(provider, by: access, proven: pools[provider].provenGeneration, &transport)
                act(pools[provider].renewAll(), of: provider)
            } catch {
                plan.log.failed(error, access)
            }
        }
    }

    /// Handles a fatal answer or GOAWAY. Returns whether the pool can continue: because the connection is being replaced
    /// anyway, because its credentials are new and the previous ones still work, or because the directory has other
    /// credentials by now.
    mutating func survives(_ cause: String, saidTo member: Int, of provider: Int) -> Bool {
        switch pools[provider].refused(member, previous: credentials.previousGeneration(provider)) {
        case .final:
            // Another lane may have found that the credentials are refused, and the directory may have others by now.
            let refused = access(provider).generation
            reload()
            return access(provider).generation != refused
        case .ofLeaving(let actions): act(actions, of: provider)
        case .ofNew(let actions):
            act(actions, of: provider)
            if let refused = credentials.goBack(provider, &transport) { plan.log.refused(cause, refused) }
        }
        return true
    }
}
