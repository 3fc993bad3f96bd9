import APNSBatchBasics
import APNSBatchNotification
import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Result lines") struct ResultLinesTests {
    private static func line(
        token: String = "00ff", outcome: Outcome, status: UInt16 = 0, attempts: Attempts = 0,
        timestamp: UInt64 = OutcomeEntry.noTimestamp, reason: String = ""
    ) -> String {
        let batch = OutcomeBatch()
        Array(token.utf8).withUnsafeBytes { token in
            Array(reason.utf8).withUnsafeBytes { reason in
                batch.append(
                    row: 7, outcome: outcome, code: status, attempts: attempts, timestamp: timestamp, token: token,
                    reason: reason)
            }
        }
        var lines = ResultLines(campaign: (1, 2))
        lines.append(batch.entries[0], of: batch)
        return String(decoding: lines.bytes, as: UTF8.self)
    }

    @Test("A sent row has its apns-id, and missing numbers are empty")
    func plain() {
        let fields = Self.line(outcome: .accepted, status: 200, attempts: 1).split(
            separator: ",", omittingEmptySubsequences: false)
        #expect(fields.count == 9)
        #expect(fields[0] == "7" && fields[1] == "00ff" && fields[2] == "accepted" && fields[3] == "200")
        #expect(fields[4] == "" && fields[5] == "" && fields[6].count == 36 && fields[7] == "1" && fields[8] == "\n")
        #expect(Self.line(outcome: .invalid, reason: "x") == "7,00ff,invalid,,x,,,0,\n")
    }

    @Test("A timestamp of 0 is written, and a missing one is empty")
    func timestamps() {
        #expect(Self.line(outcome: .invalid, timestamp: 0) == "7,00ff,invalid,,,0,,0,\n")
        #expect(Self.line(outcome: .invalid) == "7,00ff,invalid,,,,,0,\n")
    }

    @Test("Input columns follow ours and the unique id, quoted where necessary")
    func carried() {
        func line(_ carried: Int, _ fields: [String]) -> String {
            let batch = OutcomeBatch()
            batch.append(
                row: 7, outcome: .invalid, code: 0, attempts: 0, timestamp: OutcomeEntry.noTimestamp,
                token: UnsafeRawBufferPointer(start: nil, count: 0),
                reason: UnsafeRawBufferPointer(start: nil, count: 0))
            for field in fields { Array(field.utf8).withUnsafeBytes { batch.carry(text: $0) } }
            var lines = ResultLines(campaign: (1, 2), carried: carried)
            lines.append(batch.entries[0], of: batch)
            return String(decoding: lines.bytes, as: UTF8.self)
        }
        let start = "7,,invalid,,,,,0,"
        #expect(line(0, []) == start + "\n")
        #expect(line(0, ["id"]) == start + "id\n")
        #expect(line(2, []) == start + ",,\n")
        #expect(line(2, ["a", "b,\"c\""]) == start + ",a,\"b,\"\"c\"\"\"\n")
        #expect(line(2, ["a", "", "id"]) == start + "id,a,\n")
        let long = String(repeating: "é", count: 200)
        #expect(line(1, [long]) == start + "," + String(repeating: "é", count: 127) + "\n")
        #expect(
            line(8, Array(repeating: String(repeating: "\"", count: 300), count: 9)).utf8.count == start.utf8.count + 9
                * 512 + 9)
        #expect(
            String(decoding: ResultLines.header(["a", "b,c"]), as: UTF8.self)
                == "row,token,outcome,status,reason,timestamp,apns_id,attempts,apns_unique_id,a,\"b,c\"\n")
    }

    @Test(
        "Texts are quoted only where necessary",
        arguments: [
            ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("Zoë", "Zoë"),
        ])
    func quotes(text: String, field: String) {
        #expect(Self.line(outcome: .invalid, reason: text) == "7,00ff,invalid,,\(field),,,0,\n")
    }

    @Test("A byte that requires quotes is found at every place", arguments: [",", "\""])
    func quotesAnywhere(byte: String) {
        for place in 0..<40 {
            let text = String(repeating: "x", count: place) + byte + String(repeating: "y", count: 39 - place)
            let field = "\"" + text.replacing("\"", with: "\"\"") + "\""
            #expect(Self.line(outcome: .invalid, reason: text) == "7,00ff,invalid,,\(field),,,0,\n")
        }
    }

    /// Texts of the input and of servers, and the fields that they become.
    private static let altered = [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("@x,y", "\"'@x,y\""), ("-5", "-5"), ("-5+3", "'-5+3"),
        ("x\n999999,ab,accepted", #""'x\n999999,ab,accepted""#),
        ("a\0\u{1B}]0;x\u{7}\u{9B}\u{202E}", #"'a\u0000\u001b]0;x\u0007\u009b\u202e"#),
    ]

    @Test("No field is a formula, and none has what a terminal obeys", arguments: altered)
    func alters(text: String, field: String) {
        #expect(Self.line(outcome: .invalid, reason: text) == "7,00ff,invalid,,\(field),,,0,\n")
        #expect(Self.line(token: text, outcome: .invalid) == "7,\(field),invalid,,,,,0,\n")
        let batch = OutcomeBatch()
        Array("00ff".utf8).withUnsafeBytes { token in
            batch.append(
                row: 7, outcome: .invalid, code: 0, attempts: 0, timestamp: OutcomeEntry.noTimestamp, token: token,
                reason: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        // A column of the input, and the unique id of the server.
        for text in [text, text] { Array(text.utf8).withUnsafeBytes { batch.carry(text: $0) } }
        var lines = ResultLines(campaign: (1, 2), carried: 1)
        lines.append(batch.entries[0], of: batch)
        #expect(String(decoding: lines.bytes, as: UTF8.self) == "7,00ff,invalid,,,,,0,\(field),\(field)\n")
        let header = String(decoding: ResultLines.header([text]), as: UTF8.self)
        #expect(header == "row,token,outcome,status,reason,timestamp,apns_id,attempts,apns_unique_id,\(field)\n")
    }

    @Test("The id of a channel that begins with a plus is a token as it is")
    func channels() {
        #expect(
            Self.line(token: "+Pm3rbxwEe3BAJZx", outcome: .accepted, status: 200).hasPrefix(
                "7,+Pm3rbxwEe3BAJZx,accepted"))
    }

    @Test("Lines of the longest texts fit")
    func longest() {
        let batch = OutcomeBatch()
        let (text, field) = ([UInt8](repeating: 0x1B, count: 5000), [UInt8](repeating: UInt8(ascii: "\""), count: 300))
        text.withUnsafeBytes { text in
            batch.append(
                row: .max, outcome: .invalid, code: .max, attempts: 9, timestamp: .max - 1, token: text, reason: text)
        }
        for _ in 0..<9 { (Array("=".utf8) + field).withUnsafeBytes { batch.carry(text: $0) } }
        var lines = ResultLines(campaign: (1, 2), carried: 8)
        while lines.hasRoom { lines.append(batch.entries[0], of: batch) }
        #expect(lines.bytes.count <= ResultLines.usualCapacity)
    }

    @Test("A text over the limit is cut between characters")
    func cuts() {
        let line = Self.line(outcome: .invalid, reason: String(repeating: "é", count: 1000) + "x")
        #expect(line == "7,00ff,invalid,,\(String(repeating: "é", count: 512)),,,0,\n")
    }

    @Test("Numbers are written with all their digits", arguments: [0, 9, 10, 12_345, .max] as [UInt64])
    func decimal(number: UInt64) {
        let text = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
            String(decoding: buffer.prefix(Decimal.write(number, to: buffer.baseAddress!)), as: UTF8.self)
        }
        #expect(text == String(number))
    }
}
