import Testing

/// Bytes that a server may not send, or, for comparison, that are rare and legal.
struct Violation: Sendable, CustomTestStringConvertible {
    /// What RFC 9113 demands of a client that receives the bytes.
    enum Demand: Sendable {
        case connectionError
        case streamError
        /// Legal: they change nothing.
        case ignored
        /// The client may choose.
        case free
    }

    /// What the bytes are for the stream of an open request.
    enum Effect: Sendable {
        /// They are not about it.
        case none
        /// They are about it, and no answer follows them.
        case spoils
        /// They are its answer.
        case answers
    }

    /// Numbers of streams, which depend on the requests so far.
    struct Streams {
        /// That of an open request, or, if there is none, of the last one.
        var target: UInt32
        /// The next one that the client will use.
        var next: UInt32
        /// One that no request will use.
        var idle: UInt32 = 2001
    }

    let name: String
    let demand: Demand
    let effect: Effect
    let bytes: @Sendable (Streams) -> [UInt8]
    /// The size of the bytes.
    let count: Int
    /// Whether they differ with the stream of the request.
    let isAboutRequest: Bool

    init(
        _ name: String, _ demand: Demand, _ effect: Effect = .none, _ bytes: @escaping @Sendable (Streams) -> [UInt8]
    ) {
        (self.name, self.demand, self.effect, self.bytes) = (name, demand, effect, bytes)
        let example = bytes(Streams(target: 1, next: 7))
        count = example.count
        isAboutRequest = example != bytes(Streams(target: 3, next: 7))
    }

    var testDescription: String { name }

    static let all =
        frameSizes + bodies + headerFrames + blocks + priorities + resets + settings + pushes + pings + goaways
        + windows
        + continuations + messages + trailers + notFrames + floods + legal

    static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}

/// Returns a frame. Its header claims `length` bytes, or as many as the payload has.
func frame(
    _ type: UInt8, flags: UInt8 = 0, on stream: UInt32 = 0, _ payload: [UInt8] = [], claims length: Int? = nil
) -> [UInt8] {
    let length = UInt32(length ?? payload.count)
    return [UInt8(length >> 16), UInt8(length >> 8 & 255), UInt8(length & 255), type, flags] + bigEndian(stream)
        + payload
}

/// Returns HEADERS with a header block.
func headers(_ stream: UInt32, _ block: [UInt8], end: Bool = true) -> [UInt8] {
    frame(Frame.headers, flags: Frame.endHeaders | (end ? Frame.endStream : 0), on: stream, block)
}

/// Returns DATA.
func data(_ stream: UInt32, _ text: String, end: Bool = true) -> [UInt8] {
    frame(Frame.data, flags: end ? Frame.endStream : 0, on: stream, Array(text.utf8))
}

/// Returns a field as a literal without indexing (RFC 7541, section 6.2.2); both strings have fewer than 127 bytes.
func literal(_ name: String, _ value: String) -> [UInt8] {
    [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
}

func setting(_ id: UInt16, _ value: UInt32) -> [UInt8] {
    [UInt8(id >> 8), UInt8(id & 255)] + bigEndian(value)
}

func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

/// `:status: 200`, which is entry 8 of the static table.
let status200: [UInt8] = [0x88]
