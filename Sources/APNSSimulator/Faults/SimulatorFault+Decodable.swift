/// The names of HTTP/2 error codes (RFC 9113, section 7), in order of their numbers.
private let errorCodes = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
]

extension KeyedDecodingContainer {
    /// An error code by its name or as a number.
    fileprivate func errorCode(forKey key: Key) throws -> UInt32? {
        if let number = try? decodeIfPresent(UInt32.self, forKey: key) { return number }
        guard let name = try decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let number = errorCodes.firstIndex(of: name) else {
            let text = "unknown error code \"\(name)\"; known are \(errorCodes.joined(separator: ", "))"
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: text)
        }
        return UInt32(number)
    }
}

extension SimulatorFault: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case when, goaway, reset, abort, stall, settings, storm, shape, malformed, flood
        case ignorePings = "ignore_pings"
        case refuseConnects = "refuse_connects"
    }

    /// `when`, and exactly one of the others.
    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        when = try values.decodeIfPresent(FaultOccasion.self, forKey: .when) ?? FaultOccasion()
        let kinds = values.allKeys.filter { $0 != .when }
        guard kinds.count == 1, let kind = kinds.first else {
            let names = CodingKeys.allCases.filter { $0 != .when }.map(\.stringValue).joined(separator: ", ")
            let text = "a fault has exactly one of \(names); found \(kinds.count)"
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
        }
        what = try Self.kind(kind, values)
    }

    private static func kind(_ key: CodingKeys, _ values: KeyedDecodingContainer<CodingKeys>) throws -> FaultKind {
        switch key {
        case .goaway: .goaway(try values.decode(GoAwayFault.self, forKey: key))
        case .reset: .reset(try values.decode(ResetFault.self, forKey: key))
        case .abort: .abort(try values.decode(AbortFault.self, forKey: key))
        case .stall: .stall(try values.decode(StallFault.self, forKey: key))
        case .settings: .settings(try values.decode(SettingsFault.self, forKey: key))
        case .storm: .storm(try values.decode(StormFault.self, forKey: key))
        case .shape: .shape(try values.decode(ShapeFault.self, forKey: key))
        case .malformed: .malformed(try values.decode(MalformedFault.self, forKey: key))
        case .flood: .flood(try values.decode(FloodFault.self, forKey: key))
        case .refuseConnects: .refuseConnects(milliseconds: try values.decode(Int.self, forKey: key))
        case .ignorePings, .when: try pings(values)
        }
    }

    private static func pings(_ values: KeyedDecodingContainer<CodingKeys>) throws -> FaultKind {
        guard try values.decode(Bool.self, forKey: .ignorePings) else {
            throw DecodingError.dataCorruptedError(
                forKey: .ignorePings, in: values, debugDescription: "expected true: without the fault they are answered"
            )
        }
        return .ignorePings
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        if when != FaultOccasion() { try values.encode(when, forKey: .when) }
        switch what {
        case .goaway(let fault): try values.encode(fault, forKey: .goaway)
        case .reset(let fault): try values.encode(fault, forKey: .reset)
        case .abort(let fault): try values.encode(fault, forKey: .abort)
        case .stall(let fault): try values.encode(fault, forKey: .stall)
        case .settings(let fault): try values.encode(fault, forKey: .settings)
        case .storm(let fault): try values.encode(fault, forKey: .storm)
        case .shape(let fault): try values.encode(fault, forKey: .shape)
        case .malformed(let fault): try values.encode(fault, forKey: .malformed)
        case .flood(let fault): try values.encode(fault, forKey: .flood)
        case .ignorePings: try values.encode(true, forKey: .ignorePings)
        case .refuseConnects(let milliseconds): try values.encode(milliseconds, forKey: .refuseConnects)
        }
    }
}

extension FaultOccasion {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case of, after, every, connection, times
        case afterMilliseconds = "after_ms"
        case everyMilliseconds = "every_ms"
        case atByte = "at_byte"
        case atByteReceived = "at_byte_received"
        case connectionEvery = "connection_every"
        case fromMilliseconds = "from_ms"
        case untilMilliseconds = "until_ms"
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        of = try values.decodeIfPresent(Scope.self, forKey: .of) ?? .connection
        after = try values.decodeIfPresent(Int.self, forKey: .after)
        every = try values.decodeIfPresent(Int.self, forKey: .every)
        afterMilliseconds = try values.decodeIfPresent(Int.self, forKey: .afterMilliseconds)
        everyMilliseconds = try values.decodeIfPresent(Int.self, forKey: .everyMilliseconds)
        atByte = try values.decodeIfPresent(Int.self, forKey: .atByte)
        atByteReceived = try values.decodeIfPresent(Int.self, forKey: .atByteReceived)
        connection = try values.decodeIfPresent(Int.self, forKey: .connection)
        connectionEvery = try values.decodeIfPresent(Int.self, forKey: .connectionEvery)
        fromMilliseconds = try values.decodeIfPresent(Int.self, forKey: .fromMilliseconds)
        untilMilliseconds = try values.decodeIfPresent(Int.self, forKey: .untilMilliseconds)
        times = try values.decodeIfPresent(Int.self, forKey: .times)
    }
}

extension GoAwayFault: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case code, debug, twice, graceful
        case lastStream = "last_stream"
    }

    /// `last_stream` is `this` or a number.
    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        code = try values.errorCode(forKey: .code) ?? 0
        debug = try values.decodeIfPresent(String.self, forKey: .debug) ?? ""
        twice = try values.decodeIfPresent(Bool.self, forKey: .twice) ?? false
        graceful = try values.decodeIfPresent(Bool.self, forKey: .graceful) ?? false
        if let number = try? values.decodeIfPresent(Int.self, forKey: .lastStream) {
            lastStream = .number(number)
        } else if let text = try values.decodeIfPresent(String.self, forKey: .lastStream), text != "this" {
            throw DecodingError.dataCorruptedError(
                forKey: .lastStream, in: values, debugDescription: "expected this or a number, found \"\(text)\"")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(code, forKey: .code)
        try values.encode(debug, forKey: .debug)
        try values.encode(twice, forKey: .twice)
        try values.encode(graceful, forKey: .graceful)
        if case .number(let number) = lastStream { try values.encode(number, forKey: .lastStream) }
    }
}

extension ResetFault {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case code, answer
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        code = try values.errorCode(forKey: .code) ?? 0
        answer = try values.decodeIfPresent(Answer.self, forKey: .answer) ?? .none
    }
}

extension StallFault {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case side
        case milliseconds = "ms"
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        side = try values.decodeIfPresent(Side.self, forKey: .side) ?? .both
        milliseconds = try values.decodeIfPresent(Int.self, forKey: .milliseconds)
    }
}

extension SettingsFault {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case maxConcurrentStreams = "max_concurrent_streams"
        case initialWindowSize = "initial_window_size"
        case maxFrameSize = "max_frame_size"
        case headerTableSize = "header_table_size"
        case maxHeaderListSize = "max_header_list_size"
        case milliseconds = "ms"
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        maxConcurrentStreams = try values.decodeIfPresent(UInt32.self, forKey: .maxConcurrentStreams)
        initialWindowSize = try values.decodeIfPresent(UInt32.self, forKey: .initialWindowSize)
        maxFrameSize = try values.decodeIfPresent(UInt32.self, forKey: .maxFrameSize)
        headerTableSize = try values.decodeIfPresent(UInt32.self, forKey: .headerTableSize)
        maxHeaderListSize = try values.decodeIfPresent(UInt32.self, forKey: .maxHeaderListSize)
        milliseconds = try values.decodeIfPresent(Int.self, forKey: .milliseconds)
    }
}

extension StormFault {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case status, reason, requests
        case retryAfter = "retry_after"
        case milliseconds = "ms"
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        status = try values.decode(Int.self, forKey: .status)
        reason = try values.decodeIfPresent(String.self, forKey: .reason)
        retryAfter = try values.decodeIfPresent(Int.self, forKey: .retryAfter)
        requests = try values.decodeIfPresent(Int.self, forKey: .requests)
        milliseconds = try values.decodeIfPresent(Int.self, forKey: .milliseconds)
    }
}

extension ShapeFault {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case form, requests
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        form = try values.decode(Form.self, forKey: .form)
        requests = try values.decodeIfPresent(Int.self, forKey: .requests)
    }
}

extension FloodFault {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case kind, count
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(CodingKeys.self)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        kind = try values.decode(Kind.self, forKey: .kind)
        count = try values.decode(Int.self, forKey: .count)
    }
}
