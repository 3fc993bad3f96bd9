import APNSBatchNotification
import Testing

@Suite struct RowFailureTests {
    @Test(
        "A field of the wrong type is reported with its column and what was found",
        arguments: [
            ("number", "five", #"badge: expected a number, found "five""#),
            ("number", "", "badge: expected a number, found an empty field"),
            ("number", "05", #"badge: expected a number, found "05""#),
            ("number", "+5", #"badge: expected a number, found "+5""#),
            ("number", " 5", #"badge: expected a number, found " 5""#),
            ("number", "5.", #"badge: expected a number, found "5.""#),
            ("number", ".5", #"badge: expected a number, found ".5""#),
            ("number", "1e", #"badge: expected a number, found "1e""#),
            ("number", "-", #"badge: expected a number, found "-""#),
            ("number", "1,5", #"badge: expected a number, found "1,5""#),
            ("number", "NaN", #"badge: expected a number, found "NaN""#),
            ("number", "0x10", #"badge: expected a number, found "0x10""#),
            ("number", "1\n2\u{1}", #"badge: expected a number, found "1\n2\u0001""#),
            (
                "number", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaéz",
                #"badge: expected a number, found "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…""#
            ),
            ("bool", "yes", #"badge: expected true or false, found "yes""#),
            ("bool", "2", #"badge: expected true or false, found "2""#),
            ("bool", "truE ", #"badge: expected true or false, found "truE ""#),
            ("bool", "\u{14}rue", #"badge: expected true or false, found "\u0014rue""#),
            ("bool", "", "badge: expected true or false, found an empty field"),
            ("json", "", "badge: expected JSON, found an empty field"),
            ("json", " ", "badge: not valid JSON at line 1, column 2: expected JSON, found nothing"),
            ("json", "{\n \"é\": 1,}", "badge: not valid JSON at line 2, column 8: trailing comma"),
            ("json", "[1 2]", #"badge: not valid JSON at line 1, column 4: missing comma before "2""#),
        ])
    func message(type: String, field: String, expected: String) throws {
        let template = try PayloadTemplate("{\"aps\":{\"badge\":\"{{badge:\(type)}}\"}}", ["badge"])
        #expect(template.rendered(field) == .invalid(expected))
    }

    @Test("An invalid field makes the row invalid whatever the capacity")
    func precedence() throws {
        let template = try PayloadTemplate(#"{"a":"{{a}}","b":"{{b:number}}"}"#, ["a", "b"])
        for capacity in 0..<80 {
            let rendered = template.rendered("some text", "x", capacity: capacity)
            #expect(rendered == .invalid(#"b: expected a number, found "x""#))
        }
    }

    @Test("The first invalid field in template order is reported")
    func order() throws {
        let template = try PayloadTemplate(#"{"a":"{{b:bool}}","b":"{{a:number}}"}"#, ["a", "b"])
        #expect(template.rendered("x", "y") == .invalid(#"b: expected true or false, found "y""#))
    }

    @Test("The levels around a JSON field count towards the limit")
    func depth() throws {
        let template = try PayloadTemplate(#"{"a":[{"b":"{{a:json}}"}]}"#, ["a"])
        func nested(_ levels: Int) -> String {
            String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        #expect(template.rendered(nested(61)) == .text("{\"a\":[{\"b\":\(nested(61))}]}"))
        let expected = "a: line 1, column 62: more than 64 levels of objects and arrays, the limit of apns-batch"
        #expect(template.rendered(nested(62)) == .invalid(expected))
        #expect(template.rendered([Array(nested(62).utf8)], capacity: 10) == .invalid(expected))
    }

    @Test("Fields that are not UTF-8 cause no crash")
    func invalidUTF8() throws {
        let template = try PayloadTemplate(#"{"a":"{{a}}"}"#, ["a"])
        let field: [UInt8] = [0xFF, 0xC3, 0x22, 0xED, 0xA0, 0x80, 0x00, 0xF8]
        let expected =
            Array("{\"a\":\"".utf8) + [0xFF, 0xC3, 0x5C, 0x22, 0xED, 0xA0, 0x80]
            + Array("\\u0000".utf8) + [0xF8] + Array("\"}".utf8)
        #expect(template.rendered([field]) == .payload(expected))
        let json = try PayloadTemplate(#"{"a":"{{a:json}}"}"#, ["a"])
        #expect(
            json.rendered([[0x22, 0xFF, 0x22]])
                == .invalid("a: not valid JSON at line 1, column 2: invalid UTF-8"))
    }
}
