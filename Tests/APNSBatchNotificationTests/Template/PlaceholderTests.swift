import APNSBatchNotification
import Testing

/// A row, its template and the expected payload.
struct RenderCase: CustomTestStringConvertible, Sendable {
    let template: String
    let fields: [String]
    let payload: String
    var testDescription: String { "\(template) with \(fields)" }

    init(_ template: String, _ fields: [String], _ payload: String) {
        self.template = template
        self.fields = fields
        self.payload = payload
    }
}

@Suite struct PlaceholderTests {
    static let columns = ["a", "b", "c", "first name", "x:y", "really?", "städte"]

    static func row(_ fields: [String]) -> [[UInt8]] {
        (fields + Array(repeating: "", count: columns.count - fields.count)).map { Array($0.utf8) }
    }

    func check(_ test: RenderCase) throws {
        let template = try PayloadTemplate(test.template, Self.columns)
        let rendered = template.rendered(Self.row(test.fields))
        #expect(rendered == .text(test.payload), "\(rendered.string ?? "\(rendered)")")
    }

    @Test(
        "A template without placeholders is rendered in its shortest form",
        arguments: [
            RenderCase("{}", [], "{}"),
            RenderCase(" { } \n", [], "{}"),
            RenderCase("\u{FEFF}{}", [], "{}"),
            RenderCase(
                "{ \"a\" : [ 1 , -2.50e+3 , true , false , null , { } , [ ] ] }", [],
                "{\"a\":[1,-2.50e+3,true,false,null,{},[]]}"),
            RenderCase(
                #"{"é\u00e9":"\u65e5\ud83d\ude80\/\t\u0001\u001F\u007f\u0022\u005c"}"#, [],
                "{\"éé\":\"日🚀/\\t\\u0001\\u001f\u{7F}\\\"\\\\\"}"),
        ])
    func constant(test: RenderCase) throws { try check(test) }

    @Test(
        "Text fields are escaped in their place",
        arguments: [
            RenderCase(#"{"m":"Hi {{a}}"}"#, ["Zoë"], #"{"m":"Hi Zoë"}"#),
            RenderCase(#"{"m":"{{a}}{{b}}{{a}}"}"#, ["1", "2"], #"{"m":"121"}"#),
            RenderCase(#"{"m":"{{a}}"}"#, [""], #"{"m":""}"#),
            RenderCase(#"{"m":"<{{a}}>"}"#, [""], #"{"m":"<>"}"#),
            RenderCase(#"{"m":"{{a:text}}!"}"#, ["x"], #"{"m":"x!"}"#),
            RenderCase(#"{"m":["{{a}}","{{b}}"]}"#, ["x", ""], #"{"m":["x",""]}"#),
            RenderCase(
                #"{"m":"{{a}}"}"#, ["\"\\/\u{8}\u{c}\n\r\t\0\u{1f}\u{7f}\u{2028}😀"],
                "{\"m\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\u{7f}\u{2028}😀\"}"),
            RenderCase(
                #"{"m":"{{ first name }} {{x:y:text}} {{really?:text}} {{st\u00e4dte}}"}"#,
                ["", "", "", "1", "2", "3", "4"], #"{"m":"1 2 3 4"}"#),
            RenderCase(#"{"m":"\u007b{a}\u007D"}"#, ["x"], #"{"m":"x"}"#),
        ])
    func text(test: RenderCase) throws { try check(test) }

    @Test(
        "Typed fields become JSON values",
        arguments: [
            RenderCase(#"{"n":"{{a:number}}"}"#, ["0"], #"{"n":0}"#),
            RenderCase(#"{"n":"{{a:number}}"}"#, ["-0.50E-07"], #"{"n":-0.50E-07}"#),
            RenderCase(#"{"n":"{{ a : number }}"}"#, ["12345678901234567890123"], #"{"n":12345678901234567890123}"#),
            RenderCase(
                #"{"n":["{{a:bool}}","{{b:bool}}","{{c:bool}}"]}"#, ["true", "FALSE", "True"],
                #"{"n":[true,false,true]}"#),
            RenderCase(#"{"n":["{{a:bool}}","{{b:bool}}"]}"#, ["1", "0"], #"{"n":[true,false]}"#),
            RenderCase(#"{"n":["{{a:bool}}","{{b:bool}}"]}"#, ["t", "f"], #"{"n":[true,false]}"#),
            RenderCase(#"{"n":"{{a:json}}"}"#, [" { \"k\" : [ 1 , \"\\u00e9\" ] } "], #"{"n":{"k":[1,"é"]}}"#),
            RenderCase(#"{"n":"{{a:json}}","m":"{{b:json}}"}"#, ["null", "\"x\""], #"{"n":null,"m":"x"}"#),
        ])
    func typed(test: RenderCase) throws { try check(test) }

    @Test(
        "An optional placeholder removes its key and value when its field is empty",
        arguments: [
            RenderCase(#"{"a":"{{a?}}","b":1}"#, [""], #"{"b":1}"#),
            RenderCase(#"{"a":"{{a?}}","b":1}"#, ["x"], #"{"a":"x","b":1}"#),
            RenderCase(#"{"b":1,"a":"{{a?}}"}"#, [""], #"{"b":1}"#),
            RenderCase(#"{"b":1,"a":"{{a?}}"}"#, ["x"], #"{"b":1,"a":"x"}"#),
            RenderCase(#"{"a":"{{a?}}","b":"{{b}}","c":"{{c?}}"}"#, ["", "", ""], #"{"b":""}"#),
            RenderCase(#"{"a":"{{a?}}","b":"{{b}}","c":"{{c?}}"}"#, ["1", "2", "3"], #"{"a":"1","b":"2","c":"3"}"#),
            RenderCase(#"{"a":"{{a?}}"}"#, [""], "{}"),
            RenderCase(#"{"a":"{{a?}}","b":"{{b?}}","c":"{{c?}}"}"#, ["", "2", ""], #"{"b":"2"}"#),
            RenderCase(#"{"a":"{{a?}}","b":"{{b?}}","c":"{{c?}}"}"#, ["1", "", "3"], #"{"a":"1","c":"3"}"#),
            RenderCase(#"{"a":"{{a?}}","b":"{{b?}}","c":"{{c?}}"}"#, ["1", "2,", ""], #"{"a":"1","b":"2,"}"#),
            RenderCase(#"{"o":{"a":"{{a?}}"},"p":{"b":"{{b?}}"}}"#, ["", ""], #"{"o":{},"p":{}}"#),
            RenderCase(
                #"{"o":{"a":"{{a?}}"},"c":"{{c?}}","p":{"b":"{{b?}}"}}"#, ["1", ",", ""],
                #"{"o":{"a":"1"},"p":{"b":","}}"#),
            RenderCase(#"{"n":"{{a:number?}}","m":"{{b:bool?}}","o":"{{c:json?}}"}"#, ["", "", ""], "{}"),
            RenderCase(
                #"{"n":"{{a:number?}}","m":"{{b:bool?}}","o":"{{c:json?}}"}"#, ["1", "true", "[]"],
                #"{"n":1,"m":true,"o":[]}"#),
            RenderCase(#"{"l":["{{a?}}","{{b:number?}}","{{c?}}"]}"#, ["", "2", ""], #"{"l":[2]}"#),
            RenderCase(#"{"l":["{{a?}}","{{b?}}"]}"#, ["", ""], #"{"l":[]}"#),
            RenderCase(#"{"l":[["{{a?}}"],"{{b?}}",7,"{{c?}}"]}"#, ["", "y", "z"], #"{"l":[[],"y",7,"z"]}"#),
            RenderCase(#"{"m":"Dear {{a?}}, {{b}}","z":1}"#, ["", "x"], #"{"z":1}"#),
            RenderCase(#"{"m":"Dear {{a?}}, {{b}}","z":1}"#, ["Jo", ""], #"{"m":"Dear Jo, ","z":1}"#),
            RenderCase(#"{"m":"{{a?}} and {{b?}}"}"#, ["x", ""], "{}"),
            RenderCase(#"{"m":"{{a?}} and {{b?}}"}"#, ["x", "y"], #"{"m":"x and y"}"#),
            RenderCase(#"{"m":"{{a}}","n":"{{a?}}"}"#, [""], #"{"m":""}"#),
        ])
    func optional(test: RenderCase) throws { try check(test) }

    @Test(
        "A default is used when the field is empty",
        arguments: [
            RenderCase(#"{"m":"Hi {{a|there}}!"}"#, [""], #"{"m":"Hi there!"}"#),
            RenderCase(#"{"m":"Hi {{a|there}}!"}"#, ["Zoë"], #"{"m":"Hi Zoë!"}"#),
            RenderCase(#"{"m":"Hi {{a|there}}!"}"#, [" "], #"{"m":"Hi  !"}"#),
            RenderCase(#"{"m":"{{ a : text | dear friend }}"}"#, [""], #"{"m":"dear friend"}"#),
            RenderCase(#"{"m":"{{a|x}}{{b|y}}{{a|z}}"}"#, ["", "2"], #"{"m":"x2z"}"#),
            RenderCase(#"{"n":"{{a:number|0}}","b":"{{b:bool|TRUE}}"}"#, ["", ""], #"{"n":0,"b":true}"#),
            RenderCase(#"{"n":"{{a:number|0}}","b":"{{b:bool|1}}"}"#, ["7", "false"], #"{"n":7,"b":false}"#),
            RenderCase(
                #"{"j":"{{a:json|[ 1, {\"k\" : null} ]}}"}"#, [""], #"{"j":[1,{"k":null}]}"#),
            RenderCase(#"{"j":"{{a:json|{\"k\":1} }}"}"#, [""], #"{"j":{"k":1}}"#),
            RenderCase(#"{"m":"{{a|\"Sie\" \n é|ü}}"}"#, [""], #"{"m":"\"Sie\" \n é|ü"}"#),
            RenderCase(#"{"m":"{{a|{x} {{{{y}}}} }}"}"#, [""], #"{"m":"{x} {{y}}"}"#),
            RenderCase(#"{"m":"{{a|x}}}"}"#, [""], #"{"m":"x}"}"#),
            RenderCase(#"{"m":"{{a|how are you?}}"}"#, [""], #"{"m":"how are you?"}"#),
            RenderCase(#"{"m":"{{a|x}} {{b?}}","n":1}"#, ["", ""], #"{"n":1}"#),
            RenderCase(#"{"m":"{{a|x,}}","n":"{{b?}}"}"#, ["", ""], #"{"m":"x,"}"#),
            RenderCase(#"{"m":"{{b?}}","n":"{{a:number|5}}"}"#, ["", ""], #"{"n":5}"#),
            RenderCase(#"{"m":["{{a|x}}","{{b:number|1}}","{{c?}}"]}"#, ["", "", ""], #"{"m":["x",1]}"#),
        ])
    func defaults(test: RenderCase) throws { try check(test) }

    @Test("Defaults count for the size of a payload as fields do")
    func defaultSizes() throws {
        let template = try PayloadTemplate(
            #"{"m":"{{a|twelve bytes}}","n":"{{b:number|1234}}"}"#, ["a", "b"])
        let whole = #"{"m":"twelve bytes","n":1234}"#
        #expect(template.rendered("", "", capacity: whole.utf8.count) == .text(whole))
        #expect(template.rendered("", "", capacity: whole.utf8.count - 1) == .tooLarge(whole.utf8.count))
        #expect(template.rendered("x", "y", capacity: 8) == .invalid(#"b: expected a number, found "y""#))
        #expect(template.columnsUsed == [0, 1])
    }

    @Test("A bar in a column name is doubled")
    func bars() throws {
        let template = try PayloadTemplate(#"{"m":"{{a||b}} {{a||b|c|d}}"}"#, ["a|b"])
        #expect(template.rendered("x") == .text(#"{"m":"x x"}"#))
        #expect(template.rendered("") == .text(#"{"m":" c|d"}"#))
    }

    @Test(
        "Four braces give two, and a single brace stands for itself",
        arguments: [
            RenderCase(#"{"m":"{{{{a}}}}"}"#, [], #"{"m":"{{a}}"}"#),
            RenderCase(#"{"m":"{a} } {"}"#, [], #"{"m":"{a} } {"}"#),
            RenderCase(#"{"m":"{{{{{{a}}}}}}"}"#, ["x"], #"{"m":"{{x}}"}"#),
            RenderCase(#"{"m":"{{{{{"}"#, [], #"{"m":"{{{"}"#),
            RenderCase(#"{"m":"{{a}}}"}"#, ["x"], #"{"m":"x}"}"#),
            RenderCase(#"{"{{{{k}}}}":1}"#, [], #"{"{{k}}":1}"#),
        ])
    func braces(test: RenderCase) throws { try check(test) }

    @Test("The columns that a template reads are known, including those that only decide")
    func columnsUsed() throws {
        #expect(try PayloadTemplate("{}", Self.columns).columnsUsed == [])
        let template = try PayloadTemplate(#"{"x":"{{c}} {{a?}}","y":"{{a:number}}","z":"{{b:bool}}"}"#, Self.columns)
        #expect(template.columnsUsed == [0, 1, 2])
    }
}
