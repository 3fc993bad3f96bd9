/// Frames that are sent often, which a client may tolerate or not, and legal frames that are rare.
extension Violation {
    private static func flood(
        _ name: String, _ effect: Effect = .none, times: Int = 3000,
        behind before: @escaping @Sendable (Streams) -> [UInt8] = { _ in [] },
        _ one: @escaping @Sendable (Streams) -> [UInt8]
    ) -> Violation {
        Violation("many times \(name)", .free, effect) { streams in
            let one = one(streams)
            return (0..<times).reduce(into: before(streams)) { bytes, _ in bytes += one }
        }
    }

    static let floods: [Violation] = [
        flood("PING") { _ in frame(6, zeros(8)) },
        flood("SETTINGS") { _ in frame(4, setting(3, 100)) },
        flood("empty SETTINGS") { _ in frame(4) },
        flood("an acknowledgement of SETTINGS") { _ in frame(4, flags: 1) },
        flood("RST_STREAM of one stream", .spoils) { frame(3, on: $0.target, bigEndian(8)) },
        flood("PRIORITY") { frame(2, on: $0.target, zeros(4) + [16]) },
        flood("WINDOW_UPDATE") { _ in frame(8, bigEndian(1)) },
        flood("WINDOW_UPDATE by 0 on a stream", .spoils) { frame(8, on: $0.target, zeros(4)) },
        flood("an unknown frame") { _ in frame(0x77) },
        flood("GOAWAY") { frame(7, bigEndian($0.target) + zeros(4)) },
        flood("empty DATA", .spoils, behind: { headers($0.target, status200, end: false) }) {
            data($0.target, "", end: false)
        },
        flood("empty DATA before HEADERS", .spoils) { data($0.target, "", end: false) },
        flood("empty CONTINUATION", .spoils, behind: { frame(1, on: $0.target, status200) }) {
            frame(9, on: $0.target)
        },
        flood("CONTINUATION", .spoils, times: 500, behind: { frame(1, on: $0.target, status200) }) {
            frame(9, on: $0.target, literal("a", String(repeating: "b", count: 100)))
        },
        flood("a malformed answer", .spoils) { headers($0.target, literal("A", "b"), end: false) },
        flood("an interim answer", .spoils) { headers($0.target, literal(":status", "103"), end: false) },
    ]

    static let legal: [Violation] = [
        .init("nothing", .ignored) { _ in [] },
        .init("an unknown frame", .ignored) { _ in frame(0x77, flags: 0xff, zeros(20)) },
        .init("an unknown frame on a stream", .ignored) { frame(0x77, flags: 0xff, on: $0.target, zeros(20)) },
        .init("an unknown frame on an idle stream", .ignored) { frame(0xff, on: $0.idle) },
        .init("the largest unknown frame", .ignored) { _ in frame(0x77, zeros(16_384)) },
        .init("ALTSVC", .ignored) { _ in frame(10, [0, 1, 0x61] + Array("h2=\":443\"".utf8)) },
        .init("ORIGIN", .ignored) { _ in frame(12, [0, 9] + Array("https://a".utf8)) },
        .init("an unknown setting", .ignored) { _ in frame(4, setting(0x1234, .max)) },
        .init("empty SETTINGS", .ignored) { _ in frame(4) },
        .init("a setting twice", .ignored) { _ in frame(4, setting(3, 1) + setting(3, 100)) },
        .init("HEADER_TABLE_SIZE 0 and more again", .ignored) { _ in frame(4, setting(1, 0) + setting(1, 4096)) },
        .init("HEADER_TABLE_SIZE 2^32 - 1", .ignored) { _ in frame(4, setting(1, .max)) },
        .init("MAX_FRAME_SIZE 2^24 - 1", .ignored) { _ in frame(4, setting(5, (1 << 24) - 1)) },
        .init("MAX_HEADER_LIST_SIZE 0", .ignored) { _ in frame(4, setting(6, 0)) },
        .init("ENABLE_PUSH 0", .ignored) { _ in frame(4, setting(2, 0)) },
        .init("reserved bits", .ignored) { _ in frame(8, on: 0x8000_0000, bigEndian(0x8000_0001)) },
        .init("PING", .ignored) { _ in frame(6, flags: 0xfe, zeros(8)) },
        .init("an answer to no PING", .ignored) { _ in frame(6, flags: 1, zeros(8)) },
        .init("PRIORITY of an idle stream", .ignored) { frame(2, on: $0.idle, zeros(4) + [16]) },
        .init("WINDOW_UPDATE", .ignored) { _ in frame(8, bigEndian(1)) },
        .init("WINDOW_UPDATE on a stream", .ignored) { frame(8, on: $0.target, bigEndian(1)) },
        .init("a padded answer", .ignored, .answers) {
            frame(1, flags: 5 | 8, on: $0.target, [3] + status200 + zeros(3))
        },
        .init("an answer with a priority", .ignored, .answers) {
            frame(1, flags: 5 | 0x20, on: $0.target, zeros(4) + [16] + status200)
        },
        .init("an answer in three frames", .ignored, .answers) {
            frame(1, flags: 1, on: $0.target) + frame(9, on: $0.target, status200) + frame(9, flags: 4, on: $0.target)
        },
        .init("an answer behind interim ones", .ignored, .answers) {
            headers($0.target, literal(":status", "100"), end: false)
                + headers($0.target, literal(":status", "103") + literal("link", "x"), end: false)
                + headers($0.target, status200)
        },
        .init("an answer with a body and trailers", .ignored, .answers) {
            headers($0.target, status200 + literal("content-length", "2"), end: false)
                + data($0.target, "ab", end: false)
                + headers($0.target, literal("a", "b"))
        },
        .init("a padded body", .ignored, .answers) {
            headers($0.target, status200, end: false) + frame(0, flags: 9, on: $0.target, [2, 0x61, 0, 0])
        },
        .init("an answer with unknown flags", .ignored, .answers) { frame(1, flags: 0xd7, on: $0.target, status200) },
        .init("size updates before a field", .ignored, .answers) {
            headers($0.target, [0x20, 0x3f, 0x45, 0x3f, 0xe1, 0x1f] + status200)
        },
        .init("an empty value and a field value in bytes above 127", .ignored, .answers) {
            headers($0.target, status200 + literal("a", "") + literal("b", "\u{e9}"))
        },
        .init("te: trailers", .ignored, .answers) { headers($0.target, status200 + literal("te", "trailers")) },
        .init("RST_STREAM behind the answer", .ignored, .answers) {
            headers($0.target, status200) + frame(3, on: $0.target, zeros(4))
        },
    ]
}
