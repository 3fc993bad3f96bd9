/// A setting of HTTP/2 (RFC 9113, section 6.5.2).
struct FaultSetting: Equatable {
    var id: UInt16
    var value: UInt32
}

/// An action of a fault on a connection or on the simulator.
enum FaultAction: Equatable {
    case goaway(connection: UInt64, lastStream: UInt32, code: UInt32, debug: String)
    case abort(connection: UInt64, AbortFault)
    /// Stops one side or both; nil resumes both.
    case stall(connection: UInt64, StallFault.Side?)
    case settings(connection: UInt64, [FaultSetting])
    case ignorePings(connection: UInt64)
    case early(connection: UInt64, Bool)
    /// Sends bytes that already are frames.
    case bytes(connection: UInt64, [UInt8])
    case listen(Bool)
}

/// How a request is treated.
struct FaultTreatment: Equatable {
    enum Way: Equatable {
        /// The request is checked, counted and answered.
        case usual
        /// The request is neither checked nor counted, because its stream is above the last one of a GOAWAY.
        case passOver
        /// The request is neither checked nor counted, and is reset with REFUSED_STREAM.
        case refuse
        /// The request is checked and counted, but not answered, because its connection is ended or its answer is
        /// replaced.
        case unanswered
    }

    var way = Way.usual
    /// The number of the storm that determines the answer if the request passes every check; -1 for none.
    var storm: Int32 = -1
    /// The time by which the answer comes later, in nanoseconds.
    var delay: UInt64 = 0
    /// The form in which the answer is written.
    var form: ShapeFault.Form?
    var reset: ResetFault?
    var flood: FloodFault?
    /// Whether the request is answered before its payload was received.
    var isEarly = false

    /// Whether the answer is written without the library.
    var isUnusual: Bool { form.map { $0 != .early } ?? false || reset != nil || flood != nil }
}

extension SettingsFault {
    func settings() -> [FaultSetting] {
        let values: [(UInt16, UInt32?)] = [
            (1, headerTableSize), (3, maxConcurrentStreams), (4, initialWindowSize), (5, maxFrameSize),
            (6, maxHeaderListSize),
        ]
        return values.compactMap { id, value in value.map { FaultSetting(id: id, value: $0) } }
    }

    /// Returns the settings that are announced when the fault is over.
    func restored(streams: UInt32) -> [FaultSetting] {
        let usual: [UInt16: UInt32] = [1: 4096, 3: streams, 4: 1 << 18, 5: 16_384, 6: 32_768]
        return settings().map { FaultSetting(id: $0.id, value: usual[$0.id] ?? $0.value) }
    }
}

extension FloodFault.Kind {
    /// Whether the flood is an answer to a request.
    var isAnswer: Bool { [.fields, .interim, .emptyData, .data].contains(self) }
}

extension FaultKind {
    /// Its key in the script: the case's name in snake case.
    var name: String {
        "\(self)".prefix { $0 != "(" }.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
    }
}

extension SimulatorScript {
    /// The answers of storms, in the order of the storms' numbers.
    var stormRules: [SimulatorRule] {
        faults.compactMap { fault in
            guard case .storm(let storm) = fault.what else { return nil }
            return storm.rule
        }
    }
}
