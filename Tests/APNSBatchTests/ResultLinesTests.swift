import APNSProtocol
import Testing

@testable import APNSBatch

@Suite("Lines of results") struct ResultLinesTests {
    private static func line(
        token: String = "00ff", outcome: Outcome, status: UInt16 = 0, attempts: UInt16 = 0, timestamp: UInt64 = 0,
        reason: String = ""
    ) -> String {
        let batch = OutcomeBatch()
        Array(token.utf8).withUnsafeBytes { token in
            Array(reason.utf8).withUnsafeBytes { reason in
                batch.append(
                    row: 7, outcome: outcome, status: status, attempts: attempts, timestamp: timestamp, token: token,
                    reason: reason)
            }
        }
        var lines = ResultLines(campaign: (1, 2))
        lines.append(batch.entries[0], of: batch)
        return String(decoding: lines.bytes, as: UTF8.self)
    }

    @Test("a row that was sent has its apns-id; numbers that are none stay empty")
    func plain() {
        let fields = Self.line(outcome: .accepted, status: 200, attempts: 1).split(
            separator: ",", omittingEmptySubsequences: false)
        #expect(fields.count == 8)
        #expect(fields[0] == "7" && fields[1] == "00ff" && fields[2] == "accepted" && fields[3] == "200")
        #expect(fields[4] == "" && fields[5] == "" && fields[6].count == 36 && fields[7] == "1\n")
        #expect(Self.line(outcome: .invalid, reason: "x") == "7,00ff,invalid,,x,,,0\n")
    }

    @Test(
        "texts are quoted only where they must be",
        arguments: [
            ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""), ("a\nb", "\"a\nb\""),
            ("Zoë", "Zoë"),
        ])
    func quotes(text: String, field: String) {
        #expect(Self.line(outcome: .invalid, reason: text) == "7,00ff,invalid,,\(field),,,0\n")
    }

    @Test("one byte that asks for quotes is found wherever it stands", arguments: [",", "\n", "\r", "\""])
    func quotesAnywhere(byte: String) {
        for place in 0..<40 {
            let text = String(repeating: "x", count: place) + byte + String(repeating: "y", count: 39 - place)
            let field = "\"" + text.replacing("\"", with: "\"\"") + "\""
            #expect(Self.line(outcome: .invalid, reason: text) == "7,00ff,invalid,,\(field),,,0\n")
        }
    }

    @Test("a text over the limit is cut between characters")
    func cuts() {
        let line = Self.line(outcome: .invalid, reason: String(repeating: "é", count: 1000) + "x")
        #expect(line == "7,00ff,invalid,,\(String(repeating: "é", count: 512)),,,0\n")
    }

    @Test("digits of any number", arguments: [0, 9, 10, 12_345, .max] as [UInt64])
    func decimal(number: UInt64) {
        let text = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
            String(decoding: buffer.prefix(Decimal.write(number, to: buffer.baseAddress!)), as: UTF8.self)
        }
        #expect(text == String(number))
    }
}
