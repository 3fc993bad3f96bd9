/// The maximum time of a fault, in milliseconds.
private let longest = 3_600_000

extension SimulatorFault {
    /// Returns the first error, as `when.after: …`, or nil.
    func fault() -> String? {
        if let fault = when.fault() { return "when.\(fault)" }
        if when.isAboutBytes, case .abort = what {
        } else if when.isAboutBytes {
            return "when: only abort can have at_byte and at_byte_received"
        }
        if what.needsRequest, when.isOpening || when.isTimed {
            return "when: expected after or every, because this fault needs a request"
        }
        return what.fault()
    }
}

extension FaultOccasion {
    fileprivate func fault() -> String? {
        if let fault = limitFault() { return fault }
        let kinds = [after != nil || every != nil, isTimed, atByte != nil, atByteReceived != nil].count { $0 }
        guard kinds <= 1 else { return "after: expected one of requests, milliseconds, bytes sent and bytes received" }
        guard !isAboutBytes || (of != .all && fromMilliseconds == nil && untilMilliseconds == nil) else {
            return "of: bytes are those of a connection, at any time"
        }
        return nil
    }

    /// Returns the first number that is too small. A table of all of them would be shorter, but the optimizer of Swift
    /// 6.3 does not compile one in the same way each time, and the package would not be the same again.
    private func limitFault() -> String? {
        if let fault = Self.least(0, "after", after) { return fault }
        if let fault = Self.least(1, "every", every) { return fault }
        if let fault = Self.least(0, "after_ms", afterMilliseconds) { return fault }
        if let fault = Self.least(1, "every_ms", everyMilliseconds) { return fault }
        if let fault = Self.least(0, "at_byte", atByte) { return fault }
        if let fault = Self.least(0, "at_byte_received", atByteReceived) { return fault }
        if let fault = Self.least(1, "connection", connection) { return fault }
        if let fault = Self.least(1, "connection_every", connectionEvery) { return fault }
        if let fault = Self.least(0, "from_ms", fromMilliseconds) { return fault }
        if let fault = Self.least(0, "until_ms", untilMilliseconds) { return fault }
        return Self.least(1, "times", times)
    }

    private static func least(_ least: Int, _ name: String, _ value: Int?) -> String? {
        guard let value, value < least else { return nil }
        return "\(name): expected at least \(least), found \(value)"
    }
}

extension FaultKind {
    /// Whether the fault applies to the request that triggers it.
    fileprivate var needsRequest: Bool {
        switch self {
        case .reset: true
        case .malformed(let fault): fault.isAboutStream
        case .flood(let fault): fault.kind.isAnswer || fault.kind == .continuation
        default: false
        }
    }

    fileprivate func fault() -> String? {
        switch self {
        case .goaway(let fault): fault.fault().map { "goaway.\($0)" }
        case .stall(let fault): Self.time("stall.ms", fault.milliseconds)
        case .settings(let fault): fault.fault().map { "settings.\($0)" }
        case .storm(let fault): fault.fault().map { "storm.\($0)" }
        case .slow(let fault):
            Self.time("slow.ms", fault.milliseconds) ?? Self.positive("slow.requests", fault.requests)
        case .shape(let fault): Self.positive("shape.requests", fault.requests)
        case .flood(let fault): fault.fault()
        case .refuseConnects(let milliseconds): Self.time("refuse_connects", milliseconds)
        case .reset, .abort, .malformed, .ignorePings: nil
        }
    }

    fileprivate static func time(_ name: String, _ value: Int?) -> String? {
        guard let value, !(1...longest).contains(value) else { return nil }
        return "\(name): expected 1 to \(longest) milliseconds, found \(value)"
    }

    fileprivate static func positive(_ name: String, _ value: Int?) -> String? {
        guard let value, value < 1 else { return nil }
        return "\(name): expected at least 1, found \(value)"
    }
}

extension GoAwayFault {
    fileprivate func fault() -> String? {
        if case .number(let number) = lastStream, !(0...Int(Int32.max)).contains(number) {
            return "last_stream: expected 0 to \(Int32.max), found \(number)"
        }
        return debug.utf8.count <= 8192 ? nil : "debug: expected at most 8192 bytes, found \(debug.utf8.count)"
    }
}

extension SettingsFault {
    fileprivate func fault() -> String? {
        guard !settings().isEmpty else { return "max_concurrent_streams: expected at least one setting" }
        if let size = maxFrameSize, !(16_384...16_777_215).contains(size) {
            return "max_frame_size: expected 16384 to 16777215, found \(size)"
        }
        if let size = initialWindowSize, size > UInt32(Int32.max) {
            return "initial_window_size: expected at most \(Int32.max), found \(size)"
        }
        return FaultKind.time("ms", milliseconds)
    }
}

extension StormFault {
    fileprivate func fault() -> String? {
        rule.fault() ?? FaultKind.positive("requests", requests) ?? FaultKind.time("ms", milliseconds)
    }
}

extension FloodFault {
    /// Returns the first error, or nil. Bodies and fields consist of units of a kilobyte, and everything is created at
    /// once.
    fileprivate func fault() -> String? {
        let most = kind == .data || kind == .fields ? 20_000 : 100_000
        return (1...most).contains(count) ? nil : "flood.count: expected 1 to \(most), found \(count)"
    }
}
