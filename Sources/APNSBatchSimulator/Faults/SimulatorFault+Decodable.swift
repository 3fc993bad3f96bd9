import APNSBatchBasics

/// The names of HTTP/2 error codes (RFC 9113, section 7), in order of their numbers.
private let errorCodes = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
]

/// An error code, which is given by its name or as a number.
private struct ErrorCode: Decodable {
    let number: UInt32

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(UInt32.self) {
            self.number = number
            return
        }
        let name = try value.decode(String.self)
        guard let number = errorCodes.firstIndex(of: name) else {
            let text = "unknown error code \(name.quoted); known are \(errorCodes.joined(separator: ", "))"
            throw DecodingError.dataCorruptedError(in: value, debugDescription: text)
        }
        self.number = UInt32(number)
    }
}

extension SimulatorFault: Decodable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case when, goaway, reset, abort, stall, settings, storm, slow, shape, malformed, flood
        case ignorePings = "ignore_pings"
        case refuseConnects = "refuse_connects"
    }

    static let keys = ScriptKeys(
        CodingKeys.self,
        [
            .when: ScriptKeys(FaultOccasion.CodingKeys.self), .goaway: ScriptKeys(GoAwayFault.CodingKeys.self),
            .reset: ScriptKeys(ResetFault.CodingKeys.self), .stall: ScriptKeys(StallFault.CodingKeys.self),
            .settings: ScriptKeys(SettingsFault.CodingKeys.self), .storm: ScriptKeys(StormFault.CodingKeys.self),
            .slow: ScriptKeys(SlowFault.CodingKeys.self),
            .shape: ScriptKeys(ShapeFault.CodingKeys.self), .flood: ScriptKeys(FloodFault.CodingKeys.self),
        ])

    /// Decodes `when` and exactly one of the other keys.
    package init(from decoder: any Decoder) throws {
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
        case .slow: .slow(try values.decode(SlowFault.self, forKey: key))
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
}

extension GoAwayFault: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case code, debug, twice, graceful
        case lastStream = "last_stream"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        code = try values.decodeIfPresent(ErrorCode.self, forKey: .code)?.number ?? 0
        lastStream = try values.decodeIfPresent(LastStream.self, forKey: .lastStream) ?? .this
        debug = try values.decodeIfPresent(String.self, forKey: .debug) ?? ""
        twice = try values.decodeIfPresent(Bool.self, forKey: .twice) ?? false
        graceful = try values.decodeIfPresent(Bool.self, forKey: .graceful) ?? false
    }
}

extension GoAwayFault.LastStream: Decodable {
    /// Decodes `this` or a number.
    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let number = try? value.decode(Int.self) {
            self = .number(number)
            return
        }
        let text = try value.decode(String.self)
        guard text == "this" else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "expected this or a number, found \(text.quoted)")
        }
        self = .this
    }
}

extension ResetFault: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case code, answer
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        code = try values.decodeIfPresent(ErrorCode.self, forKey: .code)?.number ?? 0
        answer = try values.decodeIfPresent(Answer.self, forKey: .answer) ?? .none
    }
}

extension StallFault: Decodable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case side
        case milliseconds = "ms"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        side = try values.decodeIfPresent(Side.self, forKey: .side) ?? .both
        milliseconds = try values.decodeIfPresent(Int.self, forKey: .milliseconds)
    }
}
