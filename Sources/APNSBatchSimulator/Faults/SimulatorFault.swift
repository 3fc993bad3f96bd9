/// A deliberate fault of the simulator, and the condition under which it occurs.
///
/// ```yaml
/// faults:
///   - when: { after: 500, connection_every: 2 }
///     goaway: { debug: '{"reason":"Shutdown"}' }
///   - when: { every: 100, times: 50 }
///     reset: { code: REFUSED_STREAM }
///   - when: { of: all, after: 2000 }
///     storm: { status: 503, reason: ServiceUnavailable, retry_after: 1, requests: 500 }
///   - when: { at_byte: 20000, connection: 3 }
///     abort: reset
/// ```
///
/// Faults are evaluated in the order of the script. Several may apply to one request.
package struct SimulatorFault: Sendable, Equatable {
    package var when: FaultOccasion
    package var what: FaultKind

    package init(_ what: FaultKind, when: FaultOccasion = FaultOccasion()) {
        self.when = when
        self.what = what
    }
}

/// The condition of a fault. Without `after`, `every`, `after_ms` and the keys for bytes, the fault occurs when a
/// connection is up.
package struct FaultOccasion: Decodable, Sendable, Equatable {
    /// Whose requests are counted: those of each connection, or those of all.
    package enum Scope: String, Decodable, Sendable {
        case connection, all
    }

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

    /// Whose requests and time are counted; nil for those of each connection.
    package var of: Scope?
    /// The number of received requests after which the fault occurs; 0 for the time when the connection is up, before
    /// the first request.
    package var after: Int?
    /// The number of further requests after which it occurs again, each time.
    package var every: Int?
    /// The time in milliseconds after the connection was up, or (with `of: all`) after the first one was.
    package var afterMilliseconds: Int?
    /// The time in milliseconds after which it occurs again, each time.
    package var everyMilliseconds: Int?
    /// The number of TCP bytes that were sent or received when the fault occurs; for `abort` only.
    package var atByte: Int?
    package var atByteReceived: Int?
    /// The ordinal of the only TCP connection to which the fault applies, from 1.
    package var connection: Int?
    /// The fault applies to TCP connections whose ordinal is a multiple of this.
    package var connectionEvery: Int?
    /// The limits of the time at which the fault can occur, in milliseconds since the first connection was up.
    package var fromMilliseconds: Int?
    package var untilMilliseconds: Int?
    /// The maximum number of times that the fault occurs; nil for no limit.
    package var times: Int?

    package init(after: Int? = nil, every: Int? = nil, of scope: Scope? = nil, times: Int? = nil) {
        self.after = after
        self.every = every
        self.of = scope
        self.times = times
    }

    /// Whether the fault occurs at a byte of a connection, which the transport detects.
    var isAboutBytes: Bool { atByte != nil || atByteReceived != nil }

    /// Whether only the time triggers the fault.
    var isTimed: Bool { afterMilliseconds != nil || everyMilliseconds != nil }

    /// Whether a connection that is up triggers the fault.
    var isOpening: Bool { !isAboutBytes && !isTimed && (after == 0 || (after == nil && every == nil)) }

    /// Returns whether the `number`-th request triggers the fault.
    func hits(request number: Int) -> Bool {
        guard !isAboutBytes, !isTimed else { return false }
        let first = after ?? 0
        guard let every else { return number == first }
        return number == first || (number > first && (number - first) % every == 0)
    }

    /// Returns whether the fault applies to the connection with this ordinal.
    func concerns(connection ordinal: Int) -> Bool {
        if let connection, connection != ordinal { return false }
        if let connectionEvery, ordinal % connectionEvery != 0 { return false }
        return true
    }
}

package enum FaultKind: Sendable, Equatable {
    case goaway(GoAwayFault)
    case reset(ResetFault)
    case abort(AbortFault)
    case stall(StallFault)
    case settings(SettingsFault)
    case storm(StormFault)
    case slow(SlowFault)
    case shape(ShapeFault)
    case malformed(MalformedFault)
    case flood(FloodFault)
    case ignorePings
    /// The simulator does not listen for this time.
    case refuseConnects(milliseconds: Int)
}

/// Sends GOAWAY. Requests on later streams are ignored and not counted, and earlier ones are answered.
package struct GoAwayFault: Sendable, Equatable {
    package enum LastStream: Sendable, Equatable {
        /// The stream of the request that triggered the fault, or of the last request received.
        case this
        case number(Int)
    }

    package var code: UInt32 = 0
    package var lastStream = LastStream.this
    package var debug = ""
    /// Whether the GOAWAY is sent twice.
    package var twice = false
    /// Whether a GOAWAY with the highest last-stream-id and NO_ERROR precedes it (RFC 9113, section 6.8).
    package var graceful = false

    package init(code: UInt32 = 0, debug: String = "") {
        (self.code, self.debug) = (code, debug)
    }
}

/// Sends RST_STREAM for the request that triggers the fault.
package struct ResetFault: Sendable, Equatable {
    /// The part of the answer that is sent before RST_STREAM.
    package enum Answer: String, Decodable, Sendable {
        case none
        /// The header fields, without the end of the stream.
        case fields
        /// The complete answer.
        case full
    }

    package var code: UInt32
    package var answer: Answer

    package init(code: UInt32, answer: Answer = .none) {
        self.code = code
        self.answer = answer
    }

    /// Whether the reset means that the request was not processed (RFC 9113, section 8.7). Then the request is not
    /// counted.
    var isRefusal: Bool { code == 7 && answer == .none }
}

/// The way in which a connection is ended.
package enum AbortFault: String, Decodable, Sendable, CaseIterable {
    /// A TCP RST is sent.
    case reset
    /// A FIN is sent without close_notify.
    case close
    /// A fatal TLS alert is sent.
    case alert
    /// close_notify is sent without GOAWAY.
    case closeNotify = "close_notify"
}

/// Makes the server stop reading, writing or both.
package struct StallFault: Sendable, Equatable {
    package enum Side: String, Decodable, Sendable {
        case reading, writing, both
    }

    package var side: Side
    /// The time for which it stops, in milliseconds; nil for ever.
    package var milliseconds: Int?

    package init(side: Side = .both, milliseconds: Int? = nil) {
        (self.side, self.milliseconds) = (side, milliseconds)
    }
}

/// Announces settings on a connection that is up.
package struct SettingsFault: Decodable, Sendable, Equatable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case maxConcurrentStreams = "max_concurrent_streams"
        case initialWindowSize = "initial_window_size"
        case maxFrameSize = "max_frame_size"
        case headerTableSize = "header_table_size"
        case maxHeaderListSize = "max_header_list_size"
        case milliseconds = "ms"
    }

    package var maxConcurrentStreams: UInt32?
    package var initialWindowSize: UInt32?
    package var maxFrameSize: UInt32?
    package var headerTableSize: UInt32?
    package var maxHeaderListSize: UInt32?
    /// The time after which the usual settings are announced again, in milliseconds; nil for never.
    package var milliseconds: Int?
}

/// Answers requests that pass every check with this status and reason.
package struct StormFault: Decodable, Sendable, Equatable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case status, reason, requests
        case retryAfter = "retry_after"
        case milliseconds = "ms"
    }

    package var status: Int
    package var reason: String?
    package var retryAfter: Int?
    /// The number of requests to which it applies; 1 if neither this nor `milliseconds` is given.
    package var requests: Int?
    package var milliseconds: Int?

    package init(
        status: Int, reason: String? = nil, retryAfter: Int? = nil, requests: Int? = nil, milliseconds: Int? = nil
    ) {
        (self.status, self.reason, self.retryAfter) = (status, reason, retryAfter)
        (self.requests, self.milliseconds) = (requests, milliseconds)
    }

    var rule: SimulatorRule { SimulatorRule(share: 0, status: status, reason: reason, retryAfter: retryAfter) }
}

/// Delays answers, beyond the latency of the script.
package struct SlowFault: Decodable, Sendable, Equatable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case requests
        case milliseconds = "ms"
    }

    package var milliseconds: Int
    /// The number of requests to which it applies; nil for all further ones.
    package var requests: Int?

    package init(milliseconds: Int, requests: Int? = nil) {
        (self.milliseconds, self.requests) = (milliseconds, requests)
    }
}

/// Writes answers in an unusual way that HTTP/2 allows.
package struct ShapeFault: Decodable, Sendable, Equatable {
    enum CodingKeys: CodingKey, CaseIterable {
        case form, requests
    }

    package enum Form: String, Decodable, Sendable, CaseIterable {
        /// Frames have as much padding as possible.
        case padded
        /// The header block is split into many small frames, one of which is empty.
        case continuation
        /// Trailer fields follow the body.
        case trailers
        /// 100 and 103 precede the answer.
        case interim
        /// The body is sent byte by byte, with empty frames between.
        case pieces
        /// Frames of unknown types and priorities surround the answer.
        case unknown
        /// Answers are sent before the body is read. Payloads are not checked then.
        case early
    }

    package var form: Form
    /// The number of requests to which it applies; nil for all further ones.
    package var requests: Int?
}

/// Sends many frames, or a large one.
package struct FloodFault: Decodable, Sendable, Equatable {
    enum CodingKeys: CodingKey, CaseIterable {
        case kind, count
    }

    package enum Kind: String, Decodable, Sendable, CaseIterable {
        /// An answer with this many fields of 1,000 bytes.
        case fields
        /// A header block in this many frames, without an end.
        case continuation
        case ping, settings
        case windowUpdate = "window_update"
        /// This many 1xx answers precede the answer.
        case interim
        /// This many empty DATA frames precede the end of the body.
        case emptyData = "empty_data"
        /// A body of this many kilobytes.
        case data
    }

    package var kind: Kind
    package var count: Int
}

/// Sends bytes that violate HTTP/2 or HPACK.
package enum MalformedFault: String, Decodable, Sendable, CaseIterable {
    /// An index beyond the table of HPACK.
    case hpackIndex = "hpack_index"
    /// A table size above the limit.
    case hpackTableSize = "hpack_table_size"
    case hpackHuffman = "hpack_huffman"
    case hpackTruncated = "hpack_truncated"
    case frameTooLarge = "frame_too_large"
    case dataOnIdle = "data_on_idle"
    case dataBeforeFields = "data_before_fields"
    case padding
    case pushPromise = "push_promise"
    case settingsLength = "settings_length"
    case settingsFrameSize = "settings_frame_size"
    case settingsWindow = "settings_window"
    case pingLength = "ping_length"
    case windowOverflow = "window_overflow"
    case windowZero = "window_zero"
    case continuationAlone = "continuation_alone"
    case interleaved
    case goawayShort = "goaway_short"
    case resetOnIdle = "reset_on_idle"
    case statusMissing = "status_missing"
    case statusLetters = "status_letters"
    case upperCase = "upper_case"
    case contentLength = "content_length"
    /// An answer in HTTP/1.1.
    case http1
    case noise
}
