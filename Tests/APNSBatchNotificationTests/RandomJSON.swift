/// Generates random JSON, templates and fields. Every spelling that the grammar allows occurs in them.
struct RandomJSON {
    var random: SeededGenerator
    var text = ""
    /// The columns for placeholders. Without columns, plain JSON is generated.
    var columns: [RandomColumn] = []
    var indent = true

    init(_ seed: UInt64) { random = SeededGenerator(seed) }

    mutating func object(depth: Int = 0) {
        text += "{"
        for index in 0..<random.below(depth < 4 ? 5 : 1) {
            if index > 0 { text += "," }
            space()
            string(characters(6) + "\(index)")
            space()
            text += ":"
            value(depth: depth + 1)
        }
        space()
        text += "}"
    }

    private mutating func array(depth: Int) {
        text += "["
        for index in 0..<random.below(4) {
            if index > 0 { text += "," }
            value(depth: depth + 1)
        }
        space()
        text += "]"
    }

    mutating func value(depth: Int) {
        space()
        switch random.below(columns.isEmpty ? 10 : 16) {
        case 0 where depth < 6: object(depth: depth)
        case 1 where depth < 6: array(depth: depth)
        case 2: text += random.pick(["true", "false", "null"])
        case 3, 4: text += number()
        case 10...: placeholder()
        default: string(characters(random.chance(20) ? 60 : 12))
        }
        space()
    }

    private mutating func placeholder() {
        let column = random.pick(columns)
        let mark = random.chance(40) || column.isSometimesEmpty ? "?" : ""
        let blank = random.chance(10) ? " " : ""
        if column.type != "text" {
            return string("{{\(blank)\(column.name):\(column.type)\(blank)\(mark)\(blank)}}")
        }
        var content = ""
        for _ in 0...random.below(3) {
            if random.chance(40) { content += characters(8) }
            if random.chance(10) { content += "{{{{" }
            if content.last == "{" { content += " " }
            let text = columns.filter { $0.type == "text" }
            content += "{{\(blank)\(random.pick(text).name)\(blank)\(random.chance(20) ? "?" : "")}}"
            if random.chance(10) { content += "}}}}" }
        }
        string(content)
    }

    mutating func number() -> String {
        var number = random.chance(30) ? "-" : ""
        number += random.chance(30) ? "0" : "\(1 + random.below(9))" + digits(random.below(20))
        if random.chance(30) { number += "." + digits(1 + random.below(6)) }
        if random.chance(30) { number += random.pick(["e", "E"]) + random.pick(["", "+", "-"]) + digits(1) }
        return number
    }

    private mutating func digits(_ count: Int) -> String {
        (0..<count).map { _ in "\(random.below(10))" }.joined()
    }

    private static let alphabet = Array(
        "abcXYZ019 ,:[]\"\\/'\u{8}\u{C}\n\r\t\0\u{1F}\u{7F}éßя日本\u{2028}\u{FFFD}😀👩‍👩‍👧".unicodeScalars)

    /// Returns up to `limit` characters without braces. One in three strings has no special character.
    mutating func characters(_ limit: Int) -> String {
        let plain = random.chance(33)
        var view = String.UnicodeScalarView()
        for _ in 0..<random.below(limit + 1) {
            let scalar = random.pick(Self.alphabet)
            view.append(plain && (scalar.value < 0x20 || scalar.value > 0x7E) ? "a" : scalar)
        }
        return String(view)
    }

    /// Writes a string. Each of its characters has any of the spellings that are allowed.
    private mutating func string(_ content: String) {
        text += "\""
        for scalar in content.unicodeScalars {
            let short: [Unicode.Scalar: String] = [
                "\"": "\\\"", "\\": "\\\\", "/": "\\/", "\u{8}": "\\b", "\u{C}": "\\f", "\n": "\\n", "\r": "\\r",
                "\t": "\\t",
            ]
            let mustEscape = scalar.value < 0x20 || scalar == "\"" || scalar == "\\"
            if let escape = short[scalar], random.chance(50) {
                text += escape
            } else if mustEscape || random.chance(10) {
                for unit in String(scalar).utf16 {
                    let hex = String(UInt32(unit) + 0x10000, radix: 16, uppercase: random.chance(50))
                    text += "\\u" + hex.suffix(4)
                }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }

    mutating func space() {
        guard indent, random.chance(40) else { return }
        for _ in 0...random.below(random.chance(10) ? 20 : 3) { text += random.pick([" ", "\n", "\t", "\r"]) }
    }
}

struct RandomColumn {
    let name: String
    let type: String
    var isSometimesEmpty = false

    static let all = [
        RandomColumn(name: "a", type: "text"), RandomColumn(name: "first name", type: "text"),
        RandomColumn(name: "größe", type: "text"), RandomColumn(name: "badge", type: "number"),
        RandomColumn(name: "n", type: "number", isSometimesEmpty: true), RandomColumn(name: "vip", type: "bool"),
        RandomColumn(name: "b", type: "bool", isSometimesEmpty: true), RandomColumn(name: "extras", type: "json"),
        RandomColumn(name: "j", type: "json", isSometimesEmpty: true),
    ]

    func field(_ random: inout SeededGenerator) -> String {
        if isSometimesEmpty, random.chance(50) { return "" }
        var json = RandomJSON(random.next())
        switch type {
        case "number": return json.number()
        case "bool": return random.pick(["true", "false", "TRUE", "False", "1", "0"])
        case "json":
            json.value(depth: 4)
            return json.text
        default:
            return random.chance(30)
                ? "" : json.characters(random.chance(20) ? 100 : 20) + random.pick(["", "{{", "}}"])
        }
    }
}
