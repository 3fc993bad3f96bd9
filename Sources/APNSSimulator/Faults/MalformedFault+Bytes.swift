extension MalformedFault {
    /// A stream that nobody has opened.
    private static let idle: UInt32 = 0x7FFF_FFF1

    /// Whether it is sent in the place of an answer.
    var isAboutStream: Bool {
        switch self {
        case .hpackIndex, .hpackTableSize, .hpackHuffman, .hpackTruncated, .dataBeforeFields, .padding, .pushPromise,
            .interleaved, .statusMissing, .statusLetters, .upperCase, .contentLength:
            true
        default: false
        }
    }

    /// What is sent. Complexity: some hundred bytes.
    func bytes(stream: UInt32) -> [UInt8] {
        isAboutStream ? answer(stream) : frames()
    }

    private func headers(_ stream: UInt32, _ block: [UInt8], flags: UInt8 = FaultFrames.endHeaders) -> [UInt8] {
        FaultFrames.frame(.headers, flags: flags, stream: stream, block)
    }

    private func answer(_ stream: UInt32) -> [UInt8] {
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
        default:
            return headers(stream, fine + FaultFrames.field("content-length", "5"))
                + FaultFrames.frame(.data, flags: FaultFrames.endStream, stream: stream, Array("{}".utf8))
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
