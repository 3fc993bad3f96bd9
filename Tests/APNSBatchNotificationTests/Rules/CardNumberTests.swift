import APNSBatchNotification
import Testing

@Suite struct CardNumberTests {
    @Test(
        "A card number in clear text is reported by its place and never shown",
        arguments: [
            (#"{"aps":{"alert":"Card 4111111111111111 was charged"}}"#, "aps.alert"),
            (#"{"aps":{"alert":{"title":"a","body":"4111 1111 1111 1111"}}}"#, "aps.alert.body"),
            (#"{"aps":{"alert":{"title":"a","loc-args":["a","5500-0055-5555-5559"]}}}"#, "aps.alert.loc-args[1]"),
            (#"{"aps":{"alert":"a"},"order":{"cards":[{"n":378282246310005}]}}"#, "order.cards[0].n"),
            (#"{"aps":{"alert":"3782 822463 10005."}}"#, "aps.alert"),
            (#"{"aps":{"alert":"6011111111111117"}}"#, "aps.alert"),
            (#"{"aps":{"alert":"4222222222222"}}"#, "aps.alert"),
            (#"{"aps":{"alert":"line\n4111111111111111"}}"#, "aps.alert"),
            (#"{"aps":{"alert":"4111 1111 1111 1111 2 times"}}"#, "aps.alert"),
            (#"{"aps":{"alert":"Order 7: 4111 1111 1111 1111"}}"#, "aps.alert"),
            (#"{"aps":{"alert":"a"},"4111111111111111":1}"#, "payload"),
        ])
    func cards(payload: String, path: String) throws {
        let expected = ["card-number: \(path): what looks like a card number, in clear text"]
        #expect(try PayloadRules.ofRaw(payload, cardNumbers: true) == expected)
        #expect(try PayloadRules.ofTemplate(payload) == expected)
    }

    @Test(
        "Other numbers are not reported as card numbers",
        arguments: [
            "4111111111111112", "1700000000000", "41111111111111111111", "x4111111111111111", "4111111111111111a",
            "0.4111111111111111", "4111111111111111.5", "4111  1111  1111  1111", "4-1-1-1-1-1-1-1-1-1-1-1-1-1-1-1",
            "0000000000000000", "9111111111111111", "2018-05-02T19:32:41Z", "411111111111111", "00D000000000001EAA",
        ])
    func others(text: String) throws {
        #expect(try PayloadRules.ofRaw(#"{"aps":{"alert":"\#(text)"}}"#, cardNumbers: true) == [])
    }

    @Test("A card number is found wherever it begins")
    func places() throws {
        let rules = PayloadRules(template: nil, pushType: .alert)
        for length in 0..<60 {
            for filler in ["a", "1 a", "é, "] {
                let before = String(String(repeating: filler, count: length).prefix(length)) + ":"
                for card in ["4111111111111111", "4111 1111 1111 1111", "4222222222222"] {
                    let payload = Array("{\"aps\":{\"alert\":\"\(before)\(card)\"}}".utf8)
                    #expect(rules.findings(payload, cardNumbers: true).count == 1, "\(before)")
                }
            }
        }
    }

    @Test("No message shows a card number")
    func hidden() throws {
        let payload = #"{"aps":{"badge":"4111111111111111","alert":4111111111111111,"4111111111111111":1}}"#
        let found = try PayloadRules.ofRaw(payload, cardNumbers: true)
        #expect(found.count >= 5)
        #expect(found.allSatisfy { !$0.contains("4111") })
        #expect(found.first == "key-type: aps.badge: expected a whole number, found what looks like a card number")
    }

    @Test("A card number in a row is reported with its column")
    func column() throws {
        let template = try PayloadTemplate(#"{"aps":{"alert":"{{name}}: {{note}}"}}"#, ["name", "note"])
        let rules = PayloadRules(template: template, pushType: .alert)
        #expect(
            try rules.row(["Bob", "4111111111111111"], cardNumbers: true) == [
                "card-number: [note] aps.alert: what looks like a card number, in clear text"
            ])
        #expect(try rules.row(["Bob", "none"], cardNumbers: true) == [])
    }
}
