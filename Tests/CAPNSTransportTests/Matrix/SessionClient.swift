import CAPNSHTTP2
import Glibc

/// A client's session in memory, and a caller that begins a request whenever it may, at once after bytes were received and
/// before anything is sent, as a lane does. It checks after each step what the header of the session promises.
final class SessionClient {
    /// What the caller does, besides, right after the bytes of a violation were received.
    enum Entry: CaseIterable {
        case submit
        case abandon
        case ping
        case goaway
        case pump
    }

    /// A request, by its number.
    struct Request {
        let exchange: UnsafeMutablePointer<apns_h2_exchange>
        var isEnded = false
        var isAnswered = false
        var status: UInt16 = 0
        var stream: UInt32 = 0
        var isAbandoned = false
    }

    private(set) var requests: [Request] = []
    /// What was expected and is not so.
    private(set) var findings: [String] = []
    private let memory: OpaquePointer
    private let pool: OpaquePointer
    private let session: OpaquePointer
    private let set: OpaquePointer
    private let output: UnsafeMutablePointer<apns_h2_output>
    private var written: [UInt8] = []
    private var prefaceLeft = 24
    /// Whether the peer may receive no more HEADERS and DATA: the session has failed, or GOAWAY with an error was written.
    private var isOver = false

    private static let capacity: UInt32 = 16
    private static let record = 16_384
    nonisolated(unsafe) private static let body = UnsafePointer(strdup("{\"aps\":{\"alert\":\"Hello\"}}")!)
    nonisolated(unsafe) private static let path = UnsafePointer(strdup("/3/device/1")!)
    nonisolated(unsafe) private static let method = (UnsafePointer(strdup(":method")!), UnsafePointer(strdup("POST")!))

    init() {
        memory = apns_h2_memory_create(1 << 22)!
        pool = apns_h2_pool_create(memory, Self.capacity, 0)!
        var field = apns_h2_field()
        field.name = UnsafeRawPointer(Self.method.0).assumingMemoryBound(to: UInt8.self)
        field.value = UnsafeRawPointer(Self.method.1).assumingMemoryBound(to: UInt8.self)
        (field.name_length, field.value_length) = (7, 4)
        set = apns_h2_header_set_create(&field, 1)!
        output = .allocate(capacity: 1)
        output.initialize(to: apns_h2_output())
        output.pointee.bytes = .allocate(capacity: Self.record)
        output.pointee.capacity = UInt32(Self.record)
        var options = apns_h2_session_options()
        (options.memory, options.pool, options.output, options.body_received_max) = (memory, pool, output, 4096)
        session = apns_h2_session_create(&options)!
        output.pointee.context = Unmanaged.passUnretained(self).toOpaque()
        output.pointee.flush = { context in
            Unmanaged<SessionClient>.fromOpaque(context!).takeUnretainedValue().flush()
            return 0
        }
    }

    deinit {
        apns_h2_session_destroy(session)
        apns_h2_header_set_destroy(set)
        apns_h2_pool_destroy(pool)
        apns_h2_memory_destroy(memory)
        output.pointee.bytes.deallocate()
        output.deallocate()
    }

    var failure: apns_error { apns_h2_session_failure(session).pointee }
    var hasFailed: Bool { apns_h2_session_failure(session).pointee.scope != APNS_H2_FAILURE_NONE.rawValue }
    /// Whether the server has said GOAWAY.
    var hasGoaway: Bool { apns_h2_session_facts(session).pointee.goaway_count > 0 }
    var isUp: Bool { apns_h2_session_facts(session).pointee.settings_count > 0 }
    var openCount: Int { requests.count { !$0.isEnded } }

    private func expect(_ holds: Bool, _ text: @autoclosure () -> String) {
        if !holds { findings.append(text()) }
    }

    // MARK: Steps

    func receive(_ bytes: [UInt8]) {
        guard !hasFailed else { return }
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
        copy.initialize(from: bytes, count: bytes.count)
        let result = apns_h2_session_receive(session, copy, bytes.count)
        copy.deallocate()
        expect((result == 0) == !hasFailed, "receive returns \(result)")
        collect()
    }

    func pump() {
        guard !hasFailed else { return }
        let result = apns_h2_session_pump(session)
        expect(result == 0 || hasFailed, "pump returns \(result)")
        collect()
        look()
    }

    /// Begins a request with a body.
    func submit() {
        guard !hasFailed, let exchange = apns_h2_pool_take(pool) else { return }
        exchange.pointee.body = UnsafeRawPointer(Self.body).assumingMemoryBound(to: UInt8.self)
        exchange.pointee.body_length = 25
        let result = begin(exchange)
        look()
        expect(result >= 0 || hasFailed, "submit returns \(result)")
        guard result <= 0 else { return apns_h2_pool_give(pool, exchange) }
        // A session that fails meanwhile may refer to it until it is destroyed.
        requests.append(Request(exchange: exchange))
        collect()
    }

    private func begin(_ exchange: UnsafeMutablePointer<apns_h2_exchange>) -> Int32 {
        var request = apns_h2_request()
        request.set = set
        request.path = UnsafeRawPointer(Self.path).assumingMemoryBound(to: UInt8.self)
        request.path_length = 11
        return apns_h2_client_submit(session, exchange, &request)
    }

    /// Abandons the oldest open request.
    func abandon() {
        guard !hasFailed, let index = requests.firstIndex(where: { !$0.isEnded }) else { return }
        let exchange = requests[index].exchange
        requests[index].stream = UInt32(exchange.pointee.stream)
        _ = apns_h2_client_abandon(session, exchange, UInt32(APNS_H2_CANCEL))
        (requests[index].isEnded, requests[index].isAbandoned) = (true, true)
        // It is not returned to the pool, so that a later change of it is noticed.
    }

    func enter(_ entry: Entry) {
        switch entry {
        case .submit: if isUp && !hasGoaway { submit() }
        case .abandon: abandon()
        case .ping: if !hasFailed { _ = apns_h2_session_ping(session, 7) }
        case .goaway: if !hasFailed { _ = apns_h2_session_goaway(session, 0, nil, 0) }
        case .pump: pump()
        }
        collect()
    }

    /// Every entry of a session that has failed, once more: nothing is begun, and nothing but GOAWAY is written.
    func useFailed() {
        guard hasFailed else { return }
        look()
        isOver = true
        guard let exchange = apns_h2_pool_take(pool) else { return }
        expect(begin(exchange) < 0, "a failed session takes a request")
        expect(exchange.pointee.facts == 0, "a failed session refers to a request")
        apns_h2_pool_give(pool, exchange)
        _ = apns_h2_session_ping(session, 8)
        _ = apns_h2_session_pump(session)
        look()
    }

    // MARK: What came of it

    private func collect() {
        var next = apns_h2_session_changed_take(session)
        while let exchange = next {
            next = exchange.pointee.next
            exchange.pointee.facts &= ~UInt8(APNS_H2_LISTED.rawValue)
            note(exchange)
        }
        guard !hasFailed else { return }
        let open = Int(apns_h2_session_open_count(session))
        // An abandoned stream counts until its reset is written.
        let abandoned = requests.count(where: \.isAbandoned)
        expect(open >= openCount && open <= openCount + abandoned, "\(open) open streams, expected \(openCount)")
    }

    private func note(_ exchange: UnsafeMutablePointer<apns_h2_exchange>) {
        guard let index = requests.firstIndex(where: { $0.exchange == exchange }) else {
            return expect(false, "an exchange that was not submitted has changed")
        }
        expect(!requests[index].isEnded, "request \(index) has changed after its end")
        let facts = UInt32(exchange.pointee.facts)
        requests[index].status = exchange.pointee.status
        requests[index].stream = UInt32(exchange.pointee.stream)
        guard facts & APNS_H2_CLOSED.rawValue != 0 else { return }
        requests[index].isEnded = true
        requests[index].isAnswered =
            facts & APNS_H2_COMPLETE.rawValue != 0 && facts & APNS_H2_MALFORMED.rawValue == 0
        apns_h2_pool_message_give(pool, exchange.pointee.message)
        exchange.pointee.message = nil
    }

    private func flush() {
        written += UnsafeBufferPointer(start: output.pointee.bytes, count: Int(output.pointee.length))
        output.pointee.length = 0
    }

    /// The frames written since the last call, which the server takes.
    func take() -> [Frame] {
        look()
        defer { fresh = [] }
        return fresh
    }

    private var fresh: [Frame] = []
    /// All frames written.
    private(set) var frames: [Frame] = []

    private func look() {
        flush()
        let preface = min(prefaceLeft, written.count)
        written.removeFirst(preface)
        prefaceLeft -= preface
        while let frame = Frame.take(from: &written) {
            let isOfRequest = frame.type == Frame.headers || frame.type == Frame.data
            expect(
                !(isOver && isOfRequest), "a frame of type \(frame.type) on stream \(frame.stream) behind the failure")
            if frame.type == Frame.goaway, frame.payload[4..<8].contains(where: { $0 != 0 }) { isOver = true }
            fresh.append(frame)
            frames.append(frame)
        }
        expect(written.isEmpty, "a frame is not written as a whole")
        if hasFailed { isOver = true }
    }
}
