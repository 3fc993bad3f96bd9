import CAPNSTransport
import CAPNSTransportServer

/// The deliberate faults that the fault plan decides.
extension SimulatorServer {
    private static let bodyText: StaticString = #"{"aps":{"alert":"not read"}}"#

    /// A placeholder for a body that was not read.
    static var bodyNotRead: Bytes { unsafe Bytes(start: bodyText.utf8Start, count: bodyText.utf8CodeUnitCount) }

    /// Applies the faults of a connection that has come up.
    mutating func beginFaults(_ event: apns_transport_event, tick: UInt64) {
        unsafe perform(faults.opened(event.connection, ordinal: Int(event.code), at: tick))
    }

    /// Applies the faults of a received request, and returns its treatment.
    mutating func suffer(_ request: apns_transport_received, tick: UInt64) -> FaultTreatment {
        let (treatment, actions) = unsafe faults.received(request.connection, stream: request.stream, at: tick)
        if !actions.isEmpty {
            // Answers decided before this request are sent before its faults.
            respond()
            perform(actions)
        }
        return treatment
    }

    /// Ends a request without an answer.
    mutating func forgo(_ request: apns_transport_received, _ way: FaultTreatment.Way) {
        if let place = unsafe connections.find(request.connection) {
            connections.states[place].open -= 1
            open -= 1
        }
        if way != .unanswered { report.notProcessed += 1 }
        if way == .refuse { unsafe reset(request.connection, request.stream, code: 7) }
    }

    /// Applies the faults that are due.
    mutating func sufferDue(by tick: UInt64) {
        unsafe FaultHands.layOut(&cuts, on: transport)
        if isDeaf { isDeaf = unsafe !Listener.reopen(transport, configuration, ports) }
        guard faults.nextTime <= tick else { return }
        perform(faults.due(by: tick))
    }

    private mutating func perform(_ actions: [FaultAction]) {
        for action in actions {
            switch action {
            case .listen(let listens):
                if listens {
                    isDeaf = unsafe !Listener.reopen(transport, configuration, ports)
                } else {
                    _ = unsafe apns_transport_fault_deafen(transport, ports.pushes)
                }
            case .settings(let connection, let settings):
                if let streams = settings.first(where: { $0.id == 3 })?.value,
                    let place = connections.find(connection)
                {
                    connections.states[place].isLimited = streams != configuration.streams
                }
                _ = unsafe FaultHands.perform(action, on: transport)
            default:
                // The connection may have ended.
                _ = unsafe FaultHands.perform(action, on: transport)
            }
        }
    }

    /// Writes an answer in a form that the library does not support.
    mutating func writeByHand(_ answer: PendingAnswer, _ prepared: AnswerTable.Prepared) {
        let treatment = treatments.remove(answer.treatment)
        respond()
        if let reset = treatment.reset, reset.answer == .none {
            self.reset(answer.connection, answer.stream, code: reset.code)
            return
        }
        var said = unsafe FaultFrames.Answer(
            status: Int(prepared.status), fields: [("apns-id", answer.id.text)], body: Array(prepared.body))
        if unsafe prepared.retryAfter.count > 0 {
            unsafe said.fields.append(("retry-after", String(decoding: prepared.retryAfter, as: UTF8.self)))
        }
        _ = unsafe FaultHands.send(
            bytes(said, treatment, stream: answer.stream), stream: answer.stream, on: answer.connection, transport)
    }

    private func bytes(_ answer: FaultFrames.Answer, _ treatment: FaultTreatment, stream: UInt32) -> [UInt8] {
        let end = treatment.reset.map { FaultFrames.reset(stream: stream, code: $0.code) } ?? []
        if treatment.reset?.answer == .fields { return FaultFrames.begun(answer, stream: stream) + end }
        if let flood = treatment.flood { return FaultFrames.flooded(answer, flood, stream: stream) + end }
        if let form = treatment.form { return FaultFrames.shaped(answer, form, stream: stream) + end }
        return FaultFrames.plain(answer, stream: stream) + end
    }

    private func reset(_ connection: UInt64, _ stream: UInt32, code: UInt32) {
        var response = unsafe apns_transport_response()
        unsafe response.connection = connection
        unsafe response.stream = stream
        unsafe response.reset = 1
        unsafe response.reset_code = code
        _ = unsafe apns_transport_respond(transport, &response, 1)
    }

    /// Updates the faults and the counts when a connection has ended.
    mutating func noteEnd(_ event: apns_transport_event) {
        unsafe faults.closed(event.connection)
        switch unsafe (UInt32(event.scope), event.code) {
        case (APNS_TRANSPORT_SCOPE_SESSION.rawValue, _),
            (APNS_TRANSPORT_SCOPE_LOCAL.rawValue, Int64(APNS_TRANSPORT_LOCAL_LIMIT.rawValue)):
            report.connectionsViolated += 1
        case (APNS_TRANSPORT_SCOPE_LOCAL.rawValue, Int64(APNS_TRANSPORT_LOCAL_FAULT.rawValue)):
            report.connectionsAborted += 1
        default: break
        }
    }

    /// Returns the number of times that each fault has occurred.
    func faultCounts() -> [SimulatorReport.FaultCount] {
        zip(configuration.script.faults, faults.counts).compactMap { fault, count in
            fault.when.isAboutBytes ? nil : .init(name: fault.what.name, count: count)
        }
    }
}
