import CAPNSTransport
import CAPNSTransportServer

/// Carries out the actions of a fault plan on the transport.
enum FaultHands {
    static func perform(_ action: FaultAction, on transport: OpaquePointer) -> Int32 {
        switch action {
        case .goaway(let connection, let lastStream, let code, let debug):
            let text = Array(debug.utf8)
            return unsafe apns_transport_fault_goaway(transport, connection, lastStream, code, text, UInt32(text.count))
        case .abort(let connection, let how): return unsafe apns_transport_fault_abort(transport, connection, how.code)
        case .stall(let connection, let side):
            return unsafe apns_transport_fault_stall(transport, connection, side?.code ?? 0)
        case .settings(let connection, let settings):
            let list = settings.map { apns_h2_setting(id: $0.id, reserved: 0, value: $0.value) }
            return unsafe apns_transport_fault_settings(transport, connection, list, UInt32(list.count))
        case .ignorePings(let connection): return unsafe apns_transport_fault_pings_mute(transport, connection, true)
        case .early(let connection, let early): return unsafe apns_transport_fault_early(transport, connection, early)
        case .bytes(let connection, let bytes): return unsafe send(bytes, stream: 0, on: connection, transport)
        case .listen: return 0
        }
    }

    /// - Parameter stream: 0, or the request that the bytes answer.
    static func send(_ bytes: [UInt8], stream: UInt32, on connection: UInt64, _ transport: OpaquePointer) -> Int32 {
        unsafe apns_transport_fault_bytes(transport, connection, stream, bytes, UInt32(bytes.count))
    }

    /// Keeps enough cuts laid out for the connections that may come before the next call.
    static func layOut(_ cuts: inout FaultCuts, on transport: OpaquePointer) {
        guard !cuts.isEmpty, unsafe apns_transport_fault_cuts_left(transport) < 512 else { return }
        let next = (0..<512).map { _ in
            var cut = apns_transport_cut()
            guard let wanted = cuts.layOut() else { return cut }
            cut.bytes = UInt64(wanted.bytes)
            cut.received = wanted.isReceived ? 1 : 0
            cut.how = UInt8(wanted.how.code)
            return cut
        }
        _ = unsafe apns_transport_fault_cuts_add(transport, next, UInt32(next.count))
    }
}

extension AbortFault {
    fileprivate var code: UInt32 {
        switch self {
        case .reset: APNS_TRANSPORT_ABORT_RESET.rawValue
        case .close: APNS_TRANSPORT_ABORT_CLOSE.rawValue
        case .alert: APNS_TRANSPORT_ABORT_ALERT.rawValue
        case .closeNotify: APNS_TRANSPORT_ABORT_NOTIFY.rawValue
        }
    }
}

extension StallFault.Side {
    fileprivate var code: UInt32 {
        switch self {
        case .reading: APNS_TRANSPORT_STALL_READING.rawValue
        case .writing: APNS_TRANSPORT_STALL_WRITING.rawValue
        case .both: APNS_TRANSPORT_STALL_READING.rawValue | APNS_TRANSPORT_STALL_WRITING.rawValue
        }
    }
}

/// Which of the next TCP connections are to end at which byte.
struct FaultCuts {
    struct Cut: Equatable {
        var bytes: Int
        var isReceived: Bool
        var how: AbortFault
    }

    private let faults: [(when: FaultOccasion, how: AbortFault)]
    private var used: [Int]
    private var next = 1

    init(_ faults: [SimulatorFault]) {
        self.faults = faults.compactMap { fault in
            guard fault.when.isAboutBytes, case .abort(let how) = fault.what else { return nil }
            return (fault.when, how)
        }
        used = Array(repeating: 0, count: self.faults.count)
    }

    var isEmpty: Bool { faults.isEmpty }

    /// What the next connection is to suffer; of several faults the first one of the script.
    mutating func layOut() -> Cut? {
        defer { next += 1 }
        for (index, fault) in faults.enumerated() where fault.when.concerns(connection: next) {
            if let times = fault.when.times, used[index] >= times { continue }
            used[index] += 1
            let bytes = fault.when.atByteReceived ?? fault.when.atByte ?? 0
            return Cut(bytes: bytes, isReceived: fault.when.atByteReceived != nil, how: fault.how)
        }
        return nil
    }
}
