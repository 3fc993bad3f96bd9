import APNSBatchNotification
import Testing

@Suite struct TemplateErrorTests {
    static let columns = ["token", "first_name", "badge", "vip"]

    func message(_ template: [UInt8], columns: [String] = Self.columns) -> String {
        do {
            _ = try PayloadTemplate(json: template, columns: columns, file: "payload.json")
            return "no error"
        } catch {
            return error.description
        }
    }

    @Test(
        "An invalid template is refused with file, line, column and cause",
        arguments: [
            (
                #"{"m":"Hi {{frist_name}}"}"#,
                #"payload.json:1:10: unknown column "frist_name"; did you mean "first_name"?"#
            ),
            (
                "{\n  \"é\": \"ü {{Badge:number}}\"\n}",
                #"payload.json:2:11: unknown column "Badge"; did you mean "badge"?"#
            ),
            (
                #"{"m":"{{surname}}"}"#,
                #"payload.json:1:7: unknown column "surname"; the input has "token", "first_name", "badge", "vip""#
            ),
            (
                #"{"m":"\u00e9{{\u0062x}}"}"#,
                #"payload.json:1:13: unknown column "bx"; the input has "token", "first_name", "badge", "vip""#
            ),
            (
                #"{"m":"{{badge:int}}"}"#,
                #"payload.json:1:7: unknown type "int"; there are text, number, bool and json"#
            ),
            (#"{"m":"{{badge:}}"}"#, #"payload.json:1:7: unknown type ""; there are text, number, bool and json"#),
            (#"{"m":"{{}}"}"#, "payload.json:1:7: this placeholder names no column"),
            (#"{"m":"{{ ? }}"}"#, "payload.json:1:7: this placeholder names no column"),
            (#"{"m":"{{:number}}"}"#, "payload.json:1:7: this placeholder names no column"),
            (
                #"{"m":"Hi {{badge"}"#,
                #"payload.json:1:10: this placeholder is never closed; "{{{{" stands for a literal "{{""#
            ),
            (
                #"{"m":"Hi {{badge}"}"#,
                #"payload.json:1:10: this placeholder is never closed; "{{{{" stands for a literal "{{""#
            ),
            (#"{"m":"Hi badge}}"}"#, #"payload.json:1:15: "}}" closes nothing; "}}}}" stands for a literal "}}""#),
            (
                #"{"m":"{{{badge}}}"}"#,
                #"payload.json:1:7: a placeholder opens with two braces; "{{{{" stands for a literal "{{""#
            ),
            (#"{"m":"Hi {{badge:number}}"}"#, "payload.json:1:6: a number placeholder must be the whole string"),
            (#"{"m":"{{vip:bool}}{{badge}}"}"#, "payload.json:1:6: a bool placeholder must be the whole string"),
            (#"{"m":" {{badge:json?}}"}"#, "payload.json:1:6: a json placeholder must be the whole string"),
            (#"{"m":"{{badge|}}"}"#, #"payload.json:1:7: there is no default after the "|""#),
            (#"{"m":"{{badge|  }}"}"#, #"payload.json:1:7: there is no default after the "|""#),
            (#"{"m":"{{badge?|x}}"}"#, #"payload.json:1:7: a placeholder has a "?" or a default, not both"#),
            (#"{"m":"{{badge:number?|1}}"}"#, #"payload.json:1:7: a placeholder has a "?" or a default, not both"#),
            (
                #"{"m":"{{badge:number|five}}"}"#,
                #"payload.json:1:7: this default must be a number, found "five""#
            ),
            (#"{"m":"{{badge:number|01}}"}"#, #"payload.json:1:7: this default must be a number, found "01""#),
            (#"{"m":"{{vip:bool|yes}}"}"#, #"payload.json:1:7: this default must be true or false, found "yes""#),
            (#"{"m":"{{vip:json|{a} }}"}"#, #"payload.json:1:7: this default must be JSON, found "{a}""#),
            (
                #"{"m":"{{badge|{{vip}}}}"}"#,
                #"payload.json:1:15: a default is plain text; "{{{{" stands for a literal "{{""#
            ),
            (
                #"{"m":"{{badge|x}"}"#,
                #"payload.json:1:7: this placeholder is never closed; "{{{{" stands for a literal "{{""#
            ),
            (#"{"m":"{{|x}}"}"#, "payload.json:1:7: this placeholder names no column"),
            (#"{"m":"Hi {{badge:number|1}}"}"#, "payload.json:1:6: a number placeholder must be the whole string"),
            (#"{"a":1, "x{{badge}}":1}"#, "payload.json:1:9: a placeholder cannot be in a key"),
            ("{\"a\":1,\n \"\\u0061\":2}", #"payload.json:2:2: the key "a" occurs twice in this object"#),
            ("", "payload.json:1:1: expected JSON, found nothing"),
            ("[1]", #"payload.json:1:1: expected an object in braces, found "[""#),
            ("{\n \"a\": 1,\n}", "payload.json:2:8: trailing comma"),
            ("{\n \"é\": 01}", #"payload.json:2:7: "01" is not a JSON number"#),
        ])
    func refused(template: String, expected: String) {
        #expect(message(Array(template.utf8)) == expected)
    }

    @Test("Keys may repeat in different objects")
    func repeatedKeys() {
        #expect(message(Array(#"{"a":{"a":1},"b":{"a":2}}"#.utf8)) == "no error")
    }

    @Test("Names are compared by their bytes")
    func canonicalEquivalence() {
        let expected = "payload.json:1:7: unknown column \"e\u{301}\"; the input has \"\u{E9}\""
        let message = message(Array("{\"m\":\"{{e\u{301}}}\"}".utf8), columns: ["\u{E9}"])
        #expect(message.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(message)")
    }

    @Test("A template over its limit is refused")
    func tooLarge() {
        let filler = [UInt8](repeating: 0x20, count: PayloadTemplate.sizeLimit)
        #expect(message(Array("{}".utf8) + filler) == "payload.json:1:1: the template is larger than 1048576 bytes")
    }

    @Test("Text that is not UTF-8 is refused")
    func invalidUTF8() {
        #expect(message(Array("{\"a\":\"é".utf8) + [0xFF, 0x22, 0x7D]) == "payload.json:1:8: invalid UTF-8")
    }

    @Test("A template that is cut anywhere is refused, or is complete")
    func truncation() throws {
        let whole = Array(
            #"{"a":"x {{badge}} \u00e9 {{{{","b":["{{vip:bool?}}",{"c":-1.5e3}],"d":"{{badge:json}}"}"#.utf8)
        _ = try PayloadTemplate(json: whole, columns: Self.columns, file: "t")
        for count in 0..<whole.count {
            #expect(message(Array(whole[..<count])) != "no error")
        }
    }

    @Test("Any single changed byte gives an error or a template that renders")
    func mutation() {
        let whole = Array(#"{"a":"x{{badge}}\u00e9{{{{","b":["{{vip:bool?}}"],"d":"{{badge:json}}"}"#.utf8)
        for index in whole.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = whole
                changed[index] = byte
                guard let template = try? PayloadTemplate(json: changed, columns: Self.columns, file: "t") else {
                    continue
                }
                let fields = ["00", "Zoë", "5", "true"].map { Array($0.utf8) }
                let rendered = template.rendered(fields)
                #expect(rendered.string != nil, "\(String(decoding: changed, as: UTF8.self)): \(rendered)")
            }
        }
    }
}
