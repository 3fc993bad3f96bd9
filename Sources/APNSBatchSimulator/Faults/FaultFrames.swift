/// Frames of HTTP/2 (RFC 9113, section 6) and header blocks (RFC 7541) written by hand, byte by byte. No block touches
/// the dynamic table, so they go between those of the library.
enum FaultFrames {
    enum Kind: UInt8 {
        case data = 0
        case headers, priority, reset, settings, pushPromise, ping, goaway, windowUpdate, continuation
        case unknown = 0xFA
    }

    static let endStream: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let withPriority: UInt8 = 0x20

    /// - Parameter length: what the frame says; nil for the truth.
    static func frame(
        _ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = [], length: Int? = nil
    ) -> [UInt8] {
        let length = UInt32(length ?? payload.count)
        return Array(bigEndian(length).dropFirst()) + [kind.rawValue, flags] + bigEndian(stream) + payload
    }

    static func bigEndian(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
    }

    static func setting(_ id: UInt8, _ value: UInt32) -> [UInt8] { [0, id] + bigEndian(value) }

    // MARK: Header blocks

    /// A field as a literal without indexing, its name written out.
    static func field(_ name: String, _ value: String) -> [UInt8] {
        [0] + text(name) + text(value)
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return integer(bytes.count, prefix: 7) + bytes
    }

    /// An integer with a prefix of so many bits, the others 0 (RFC 7541, section 5.1).
    static func integer(_ value: Int, prefix: UInt8) -> [UInt8] {
        let most = (1 << Int(prefix)) - 1
        guard value >= most else { return [UInt8(value)] }
        var bytes = [UInt8(most)]
        var rest = value - most
        while rest >= 128 {
            bytes.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    static func reset(stream: UInt32, code: UInt32) -> [UInt8] {
        frame(.reset, stream: stream, bigEndian(code))
    }

    // MARK: Answers

    /// What an answer says.
    struct Answer {
        var status: Int
        var fields: [(name: String, value: String)]
        var body: [UInt8]

        var block: [UInt8] {
            FaultFrames.field(":status", String(status)) + fields.flatMap { FaultFrames.field($0.name, $0.value) }
        }
    }

    /// An answer in two frames.
    static func plain(_ answer: Answer, stream: UInt32) -> [UInt8] {
        guard !answer.body.isEmpty else {
            return frame(.headers, flags: endHeaders | endStream, stream: stream, answer.block)
        }
        return begun(answer, stream: stream) + frame(.data, flags: endStream, stream: stream, answer.body)
    }

    /// The fields only: the end of the stream is missing.
    static func begun(_ answer: Answer, stream: UInt32) -> [UInt8] {
        frame(.headers, flags: endHeaders, stream: stream, answer.block)
    }

    static func shaped(_ answer: Answer, _ form: ShapeFault.Form, stream: UInt32) -> [UInt8] {
        switch form {
        case .padded: return paddedAnswer(answer, stream: stream)
        case .continuation: return inPieces(answer, stream: stream)
        case .trailers:
            return begun(answer, stream: stream) + frame(.data, stream: stream, answer.body)
                + frame(
                    .headers, flags: endHeaders | endStream, stream: stream,
                    field("x-checksum", "0badcafe") + field("apns-id", "not-the-id"))
        case .interim: return interim(stream: stream) + plain(answer, stream: stream)
        case .pieces:
            return begun(answer, stream: stream)
                + answer.body.flatMap { frame(.data, stream: stream, [$0]) + frame(.data, stream: stream) }
                + frame(.data, flags: endStream, stream: stream)
        case .unknown: return amongUnknown(answer, stream: stream)
        case .early: return plain(answer, stream: stream)
        }
    }

    private static func paddedAnswer(_ answer: Answer, stream: UInt32) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: 255)
        return frame(.headers, flags: endHeaders | padded, stream: stream, [255] + answer.block + padding)
            + frame(.data, flags: padded, stream: stream, [255] + padding)
            + frame(.data, flags: endStream | padded, stream: stream, [255] + answer.body + padding)
    }

    /// The header block in six frames, the second one empty: clients take some, but not any number of them.
    private static func inPieces(_ answer: Answer, stream: UInt32) -> [UInt8] {
        let rest = answer.block.dropFirst()
        let pieces: [ArraySlice<UInt8>] = [answer.block.prefix(1), []] + cut(rest, length: (rest.count + 3) / 4)
        let bytes = headers(pieces, endsStream: answer.body.isEmpty, stream: stream)
        return answer.body.isEmpty ? bytes : bytes + frame(.data, flags: endStream, stream: stream, answer.body)
    }

    private static func cut(_ bytes: ArraySlice<UInt8>, length: Int) -> [ArraySlice<UInt8>] {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: length).map { bytes[$0...].prefix(length) }
    }

    /// HEADERS and CONTINUATION frames.
    private static func headers(_ pieces: [ArraySlice<UInt8>], endsStream: Bool, stream: UInt32) -> [UInt8] {
        pieces.enumerated().flatMap { index, piece in
            let ends = index == 0 && endsStream ? endStream : 0
            let flags = index == pieces.count - 1 ? ends | endHeaders : ends
            return frame(index == 0 ? .headers : .continuation, flags: flags, stream: stream, Array(piece))
        }
    }

    private static func interim(stream: UInt32) -> [UInt8] {
        frame(.headers, flags: endHeaders, stream: stream, field(":status", "100"))
            + frame(
                .headers, flags: endHeaders, stream: stream, field(":status", "103") + field("link", "</style.css>"))
    }

    private static func amongUnknown(_ answer: Answer, stream: UInt32) -> [UInt8] {
        let priority: [UInt8] = bigEndian(0) + [15]
        var bytes = frame(.unknown, flags: 0xFF, stream: stream, Array("whatever".utf8))
        bytes += frame(.priority, stream: stream, priority)
        bytes += frame(
            .headers, flags: endHeaders | withPriority | (answer.body.isEmpty ? endStream : 0), stream: stream,
            priority + answer.block)
        if !answer.body.isEmpty { bytes += frame(.data, flags: endStream | 0x10, stream: stream, answer.body) }
        return bytes + frame(.unknown, Array(repeating: 0, count: 300))
    }

    // MARK: Floods

    /// An answer with too much of something.
    static func flooded(_ answer: Answer, _ flood: FloodFault, stream: UInt32) -> [UInt8] {
        switch flood.kind {
        case .fields:
            var answer = answer
            let value = String(repeating: "x", count: 1000)
            answer.fields += (0..<flood.count).map { ("x-field-\($0)", value) }
            return headers(cut(answer.block[...], length: 16_384), endsStream: true, stream: stream)
        case .interim:
            return repeated(interim(stream: stream), flood.count)
                + plain(answer, stream: stream)
        case .emptyData:
            return begun(answer, stream: stream)
                + repeated(frame(.data, stream: stream), flood.count)
                + frame(.data, flags: endStream, stream: stream, answer.body)
        default:
            let kilobyte = [UInt8](repeating: 0x20, count: 1024)
            return begun(answer, stream: stream)
                + repeated(frame(.data, stream: stream, kilobyte), flood.count)
                + frame(.data, flags: endStream, stream: stream, answer.body)
        }
    }

    /// Frames that belong to no answer.
    static func flood(_ flood: FloodFault, stream: UInt32) -> [UInt8] {
        let one: [UInt8] =
            switch flood.kind {
            case .ping: frame(.ping, Array("flooding".utf8))
            case .windowUpdate: frame(.windowUpdate, bigEndian(1))
            default: frame(.continuation, stream: stream)
            }
        let first = flood.kind == .continuation ? frame(.headers, stream: stream, field(":status", "200")) : []
        return first + repeated(one, flood.count)
    }

    private static func repeated(_ frame: [UInt8], _ count: Int) -> [UInt8] {
        Array(repeatElement(frame, count: count).joined())
    }
}

extension MalformedFault {
    /// A stream that was never opened.
    private static let idle: UInt32 = 0x7FFF_FFF1

    /// Whether it is sent in the place of an answer.
    var isAboutStream: Bool { answer(1) != nil }

    /// What is sent. Complexity: some hundred bytes.
    func bytes(stream: UInt32) -> [UInt8] { answer(stream) ?? frames() }

    private func headers(_ stream: UInt32, _ block: [UInt8], flags: UInt8 = FaultFrames.endHeaders) -> [UInt8] {
        FaultFrames.frame(.headers, flags: flags, stream: stream, block)
    }

    /// Nil if it is not about a stream.
    private func answer(_ stream: UInt32) -> [UInt8]? {
        let fine = FaultFrames.field(":status", "200")
        let whole = FaultFrames.endHeaders | FaultFrames.endStream
        switch self {
        case .hpackIndex: return headers(stream, [0xFF, 0xFF, 0x7F], flags: whole)
        case .hpackTableSize: return headers(stream, [0x3F, 0xFF, 0xFF, 0xFF, 0x07] + fine, flags: whole)
        // A code of 30 ones is the end of the string, which must not be written.
        case .hpackHuffman: return headers(stream, fine + [0, 1, 0x61, 0x84, 255, 255, 255, 255], flags: whole)
        case .hpackTruncated: return headers(stream, fine + [0, 1, 0x61, 10, 0x62], flags: whole)
        case .dataBeforeFields:
            return FaultFrames.frame(.data, flags: FaultFrames.endStream, stream: stream, Array("{}".utf8))
        case .padding:
            return headers(stream, fine)
                + FaultFrames.frame(
                    .data, flags: FaultFrames.endStream | FaultFrames.padded, stream: stream, [200, 1, 2])
        case .pushPromise:
            return FaultFrames.frame(
                .pushPromise, flags: FaultFrames.endHeaders, stream: stream,
                FaultFrames.bigEndian(2) + FaultFrames.field(":method", "GET"))
        case .interleaved:
            return headers(stream, fine, flags: 0) + FaultFrames.frame(.ping, Array("betweens".utf8))
        case .statusMissing: return headers(stream, FaultFrames.field("apns-id", "x"), flags: whole)
        case .statusLetters: return headers(stream, FaultFrames.field(":status", "two"), flags: whole)
        case .upperCase: return headers(stream, fine + FaultFrames.field("Apns-Id", "x"), flags: whole)
        case .contentLength:
            return headers(stream, fine + FaultFrames.field("content-length", "5"))
                + FaultFrames.frame(.data, flags: FaultFrames.endStream, stream: stream, Array("{}".utf8))
        default: return nil
        }
    }

    private func frames() -> [UInt8] {
        switch self {
        case .frameTooLarge: FaultFrames.frame(.unknown, stream: 0, Array(repeating: 0, count: 100), length: 1 << 20)
        case .dataOnIdle: FaultFrames.frame(.data, stream: Self.idle, [1, 2, 3])
        case .settingsLength: FaultFrames.frame(.settings, [0, 3, 0, 0, 1])
        case .settingsFrameSize: FaultFrames.frame(.settings, FaultFrames.setting(5, 100))
        case .settingsWindow: FaultFrames.frame(.settings, FaultFrames.setting(4, 1 << 31))
        case .pingLength: FaultFrames.frame(.ping, [1, 2, 3, 4, 5, 6, 7])
        case .windowOverflow: FaultFrames.frame(.windowUpdate, FaultFrames.bigEndian(0x7FFF_FFFF))
        case .windowZero: FaultFrames.frame(.windowUpdate, FaultFrames.bigEndian(0))
        case .continuationAlone:
            FaultFrames.frame(.continuation, flags: FaultFrames.endHeaders, stream: 1, FaultFrames.field("a", "b"))
        case .goawayShort: FaultFrames.frame(.goaway, [0, 0, 0, 0])
        case .resetOnIdle: FaultFrames.reset(stream: Self.idle, code: 8)
        case .http1: Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8)
        default: (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }
        }
    }
}
