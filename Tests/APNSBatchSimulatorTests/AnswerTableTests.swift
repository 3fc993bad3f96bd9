import APNSBatchBasics
import Testing

@testable import APNSBatchSimulator

@Suite("Table of answers")
struct AnswerTableTests {
    static let script = SimulatorScript(rules: [
        SimulatorRule(share: 0.1, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_123),
        SimulatorRule(share: 0.1, status: 410, reason: "ExpiredToken"), SimulatorRule(share: 0.1, status: 503),
        SimulatorRule(share: 0.1, status: 400, reason: "BadTopic"),
    ])

    @Test(
        "Bodies are written as APNs writes them",
        arguments: [
            (AnswerTable.number(.accepted), 200, ""),
            (AnswerTable.number(.payloadTooLarge), 413, #"{"reason":"PayloadTooLarge"}"#),
            (AnswerTable.number(rule: 0), 410, #"{"reason":"Unregistered","timestamp":1700000000123}"#),
            (AnswerTable.number(rule: 1), 410, #"{"reason":"ExpiredToken","timestamp":77}"#),
            (AnswerTable.number(rule: 2), 503, ""), (AnswerTable.number(rule: 3), 400, #"{"reason":"BadTopic"}"#),
        ])
    func bodies(_ number: Int, _ status: UInt16, _ body: String) {
        let table = AnswerTable(Self.script, started: 77)
        #expect(table.entries[number].status == status)
        #expect(String(decoding: table.entries[number].body, as: UTF8.self) == body)
    }

    @Test("Counts are summed, the most frequent answer first")
    func counts() {
        let table = AnswerTable(Self.script, started: 77)
        table.entries[AnswerTable.number(.accepted)].given = 3
        table.entries[AnswerTable.number(.badTopic)].given = 4
        table.entries[AnswerTable.number(rule: 3)].given = 5
        table.entries[AnswerTable.number(rule: 2)].given = 3
        #expect(
            table.counts() == [
                .init(status: 400, reason: "BadTopic", count: 9), .init(status: 200, reason: "", count: 3),
                .init(status: 503, reason: "", count: 3),
            ])
    }

    @Test("Ids have the right form and do not repeat")
    func ids() {
        var random = SplitMix64(seed: 1)
        var seen: Set<String> = []
        for _ in 0..<10_000 {
            var text = [UInt8](repeating: 0, count: MessageID.length)
            text.withUnsafeMutableBytes { out in
                MessageID(high: random.next(), low: random.next()).write(to: out.baseAddress!)
            }
            #expect(text.withUnsafeBytes { FieldForm.isMessageID($0) })
            #expect(text[14] == UInt8(ascii: "4") && "89ab".utf8.contains(text[19]))
            seen.insert(String(decoding: text, as: UTF8.self))
        }
        #expect(seen.count == 10_000)
    }
}
