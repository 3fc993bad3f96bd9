/// A deliberate fault of the simulator, and when it happens.
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
/// Faults are looked at in the order of the script; several may hit one request.
package struct SimulatorFault: Sendable, Equatable {
    package var when: FaultOccasion
    package var what: FaultKind

    package init(_ what: FaultKind, when: FaultOccasion = FaultOccasion()) {
        self.when = when
        self.what = what
    }
}

/// When a fault happens. Without any of `after`, `every`, `after_ms` and the bytes: as soon as a connection is up.
package struct FaultOccasion: Decodable, Sendable, Equatable {
    /// What is counted: requests of each connection, or of all together.
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
    /// The number of requests received that brings the fault; 0 is before the first one, when the connection is up.
    package var after: Int?
    /// Then again each time that so many more were received.
    package var every: Int?
    /// So many milliseconds after the connection was up, or (`of: all`) after the first one was.
    package var afterMilliseconds: Int?
    /// And again each time that so many milliseconds more have passed.
    package var everyMilliseconds: Int?
    /// When so many bytes of TCP were sent, or received; for `abort` only.
    package var atByte: Int?
    package var atByteReceived: Int?
    /// Ordinal of the one TCP connection that the fault is for, from 1.
    package var connection: Int?
    /// The fault is for TCP connections whose ordinal is a multiple of this.
    package var connectionEvery: Int?
    /// Not before and not after so many milliseconds since the first connection was up.
    package var fromMilliseconds: Int?
    package var untilMilliseconds: Int?
    /// The maximum number of times; nil for no limit.
    package var times: Int?

    package init(after: Int? = nil, every: Int? = nil, of scope: Scope? = nil, times: Int? = nil) {
        self.after = after
        self.every = every
        self.of = scope
        self.times = times
    }

    /// Whether it is about bytes of a connection, which the transport looks at.
    var isAboutBytes: Bool { atByte != nil || atByteReceived != nil }

    /// Whether the time alone brings it.
    var isTimed: Bool { afterMilliseconds != nil || everyMilliseconds != nil }

    /// Whether a connection that has come up brings it.
    var isOpening: Bool { !isAboutBytes && !isTimed && (after == 0 || (after == nil && every == nil)) }

    /// Whether the `number`-th request brings it.
    func hits(request number: Int) -> Bool {
        guard !isAboutBytes, !isTimed else { return false }
        let first = after ?? 0
        guard let every else { return number == first }
        return number == first || (number > first && (number - first) % every == 0)
    }

    /// Whether it concerns the so many-th connection.
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
    case shape(ShapeFault)
    case malformed(MalformedFault)
    case flood(FloodFault)
    case ignorePings
    /// The simulator does not listen for this time.
    case refuseConnects(milliseconds: Int)
}

/// GOAWAY. Requests on later streams are passed over and not counted; those before are answered.
package struct GoAwayFault: Sendable, Equatable {
    package enum LastStream: Sendable, Equatable {
        /// That of the request which brought it, or of the last one received.
        case this
        case number(Int)
    }

    package var code: UInt32 = 0
    package var lastStream = LastStream.this
    package var debug = ""
    /// Whether the GOAWAY is sent twice.
    package var twice = false
    /// Announces itself first: GOAWAY with the highest last-stream-id and NO_ERROR (RFC 9113, section 6.8).
    package var graceful = false
}

/// RST_STREAM for the request that brings the fault.
package struct ResetFault: Sendable, Equatable {
    /// How much of the answer is sent before RST_STREAM.
    package enum Answer: String, Decodable, Sendable {
        case none
        /// The fields, without the end of the stream.
        case fields
        /// A complete one.
        case full
    }

    package var code: UInt32
    package var answer: Answer

    package init(code: UInt32, answer: Answer = .none) {
        self.code = code
        self.answer = answer
    }

    /// The request was not looked at (RFC 9113, section 8.7): it is not counted.
    var isRefusal: Bool { code == 7 && answer == .none }
}

/// How a connection is ended.
package enum AbortFault: String, Decodable, Sendable, CaseIterable {
    /// TCP RST.
    case reset
    /// FIN without close_notify.
    case close
    /// A fatal TLS alert.
    case alert
    /// close_notify without GOAWAY.
    case closeNotify = "close_notify"
}

/// The server does not read, write or both.
package struct StallFault: Sendable, Equatable {
    package enum Side: String, Decodable, Sendable {
        case reading, writing, both
    }

    package var side: Side
    /// For how long; nil for ever.
    package var milliseconds: Int?
}

/// Settings that are announced on a connection that is up.
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
    /// After so long they are as before; nil for never.
    package var milliseconds: Int?
}

/// Requests that pass every check get this answer.
package struct StormFault: Decodable, Sendable, Equatable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case status, reason, requests
        case retryAfter = "retry_after"
        case milliseconds = "ms"
    }

    package var status: Int
    package var reason: String?
    package var retryAfter: Int?
    /// For so many requests; 1 when neither this nor `milliseconds` is given.
    package var requests: Int?
    package var milliseconds: Int?

    var rule: SimulatorRule { SimulatorRule(share: 0, status: status, reason: reason, retryAfter: retryAfter) }
}

/// Answers are written in an unusual way that HTTP/2 allows.
package struct ShapeFault: Decodable, Sendable, Equatable {
    enum CodingKeys: CodingKey, CaseIterable {
        case form, requests
    }

    package enum Form: String, Decodable, Sendable, CaseIterable {
        /// Frames with as much padding as goes.
        case padded
        /// The header block in many small frames, one of them empty.
        case continuation
        /// Fields behind the body.
        case trailers
        /// 100 and 103 before the answer.
        case interim
        /// The body byte by byte, with empty frames between.
        case pieces
        /// Frames of unknown types, and priorities, around the answer.
        case unknown
        /// Answers leave before the body is read. Payloads are not looked at then.
        case early
    }

    package var form: Form
    /// For so many requests; nil for all from then on.
    package var requests: Int?
}

/// Many frames, or a large one.
package struct FloodFault: Decodable, Sendable, Equatable {
    enum CodingKeys: CodingKey, CaseIterable {
        case kind, count
    }

    package enum Kind: String, Decodable, Sendable, CaseIterable {
        /// An answer with so many fields of 1,000 bytes.
        case fields
        /// A header block in so many frames without an end.
        case continuation
        case ping, settings
        case windowUpdate = "window_update"
        /// So many 1xx answers before the answer.
        case interim
        /// So many empty DATA frames before the end of the body.
        case emptyData = "empty_data"
        /// A body of so many kilobytes.
        case data
    }

    package var kind: Kind
    package var count: Int
}

/// Bytes that break HTTP/2 or HPACK.
package enum MalformedFault: String, Decodable, Sendable, CaseIterable {
    /// A field beyond the table of HPACK.
    case hpackIndex = "hpack_index"
    /// A larger table than allowed.
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
