import APNSBatchNotification
import Testing

@Suite struct SealedTemplateTests {
    static let columns = ["token", "order", "name"]

    private func template(_ json: String, _ keys: [String]) throws(TemplateError) -> SealedTemplate {
        try SealedTemplate(json: Array(json.utf8), columns: Self.columns, file: "payload.json", keys: keys)
    }

    @Test("The named keys are encrypted, and all others stay outside, in their order")
    func split() throws {
        let sealed = try template(
            #"{"oid": "{{order:number}}", "aps": {"alert": "You"}, "v": 2, "to": {"n": "{{name}}"}}"#, ["to", "oid"])
        #expect(sealed.inner.rendered("t", "7", "Zoë \"Z\"") == .text(#"{"oid":7,"to":{"n":"Zoë \"Z\""}}"#))
        let outer = """
            {"aps":{"alert":"You","mutable-content":1},"v":2,"encrypted":true,"content":"QUI+/w==","secret":"c2Vj"}
            """
        #expect(sealed.outer.rendered("t", "7", "Zoë", "QUI+/w==", "c2Vj") == .text(outer))
    }

    @Test("The key mutable-content stays as given, and is added with aps where it is missing")
    func mutableContent() throws {
        let own = try template(#"{"aps":{"mutable-content":1,"badge":0},"a":1,"b":2}"#, ["a", "b"])
        #expect(
            own.outer.rendered("", "", "", "C", "S")
                == .text(#"{"aps":{"mutable-content":1,"badge":0},"encrypted":true,"content":"C","secret":"S"}"#))
        let none = try template(#"{"a":1}"#, ["a"])
        #expect(
            none.outer.rendered("", "", "", "C", "S")
                == .text(#"{"aps":{"mutable-content":1},"encrypted":true,"content":"C","secret":"S"}"#))
        let empty = try template(#"{"aps":{},"a":1}"#, ["a"])
        #expect(empty.outer.rendered("", "", "", "C", "S") == none.outer.rendered("", "", "", "C", "S"))
    }

    @Test("Optional keys are omitted from the encrypted part as from any payload")
    func optional() throws {
        let sealed = try template(#"{"aps":{},"oid":"{{order?}}","name":"{{name?}}"}"#, ["oid", "name"])
        #expect(sealed.inner.rendered("t", "", "") == .text("{}"))
        #expect(sealed.inner.rendered("t", "1", "") == .text(#"{"oid":"1"}"#))
    }

    @Test("Defaults apply in the encrypted part as in any payload")
    func defaults() throws {
        let sealed = try template(#"{"aps":{},"to":{"n":"{{name|friend}}"}}"#, ["to"])
        #expect(sealed.inner.rendered("t", "7", "") == .text(#"{"to":{"n":"friend"}}"#))
        #expect(sealed.inner.rendered("t", "7", "Zoë") == .text(#"{"to":{"n":"Zoë"}}"#))
    }

    @Test("Sizes are exact, and one byte too little is refused")
    func sizes() throws {
        let sealed = try template(#"{"aps":{"alert":"x"},"a":"{{name}}"}"#, ["a"])
        let whole = #"{"aps":{"alert":"x","mutable-content":1},"encrypted":true,"content":"CCCC","secret":"SSSS"}"#
        let count = whole.utf8.count
        #expect(sealed.outer.rendered("", "", "", "CCCC", "SSSS", capacity: count) == .text(whole))
        #expect(sealed.outer.rendered("", "", "", "CCCC", "SSSS", capacity: count - 1) == .tooLarge(count))
    }

    @Test(
        "A template that cannot be encrypted is refused with its place",
        arguments: [
            (
                "{\n \"aps\": {}, \"oid\": 1}", ["oyd"],
                #"payload.json:1:1: there is no key "oyd" to encrypt; did you mean "oid"?"#
            ),
            (
                "{\"aps\": {}, \"oid\": 1}", ["something"],
                #"payload.json:1:1: there is no key "something" to encrypt; there are "aps", "oid""#
            ),
            (
                "{\n  \"aps\": {}, \"oid\": 1}", ["oid", "aps"],
                #"payload.json:2:3: the key "aps" cannot be encrypted"#
            ),
            (
                "{\"aps\": {},\n \"oid\": 1,\n \"secret\": 1}", ["oid"],
                #"payload.json:3:2: the key "secret" is added by encryption; leave it out"#
            ),
            (
                "{\"content\": 1}", ["content"],
                #"payload.json:1:2: the key "content" is added by encryption; leave it out"#
            ),
            (
                "{\"encrypted\": false, \"a\": 1}", ["a"],
                #"payload.json:1:2: the key "encrypted" is added by encryption; leave it out"#
            ),
            (
                "{\"aps\": \"{{name:json}}\", \"a\": 1}", ["a"],
                #"payload.json:1:9: "aps" must be an object, since encryption adds "mutable-content" to it"#
            ),
            (
                #"{"aps":{"mutable-content":0},"a":1}"#, ["a"],
                #"payload.json:1:27: an encrypted payload needs "mutable-content" in every row; write 1"#
            ),
            (
                "\u{FEFF}{\"aps\": {}, \"a\": \"{{nmae}}\"}", ["a"],
                #"payload.json:1:19: unknown column "nmae"; did you mean "name"?"#
            ),
        ])
    func refused(json: String, keys: [String], message: String) {
        let error = #expect(throws: TemplateError.self) { try template(json, keys) }
        #expect(error?.description == message)
    }
}
