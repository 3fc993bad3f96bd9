import Testing

@testable import APNSBatchNotification

@Suite("Text templates")
struct TextTemplateTests {
    private func withFields<R>(_ fields: [String], _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) -> R) -> R {
        let memory = fields.map { GuardedMemory(Array($0.utf8)) }
        defer { withExtendedLifetime(memory) {} }
        return memory.map { UnsafeRawBufferPointer($0.bytes) }.withUnsafeBufferPointer(body)
    }

    private func render(_ text: String, _ fields: [String], room: Int = 64) throws -> (String, Int) {
        let template = try TextTemplate(text, columns: ["story", "day"], name: "collapse_id")
        var out = [UInt8](repeating: 0, count: room)
        let size = withFields(fields) { fields in
            out.withUnsafeMutableBytes { template.render(fields: fields, into: $0) }
        }
        return (String(decoding: out.prefix(min(size, room)), as: UTF8.self), size)
    }

    @Test("A text template inserts fields unchanged")
    func renders() throws {
        #expect(try render("news-{{story}}-{{day}}", ["a\"b", ""]) == ("news-a\"b-", 9))
        #expect(try render("\\{{{{x}}}}", ["", ""]) == ("\\{{x}}", 6))
        #expect(try render("", ["a", "b"]) == ("", 0))
        #expect(try render("{{story|none}}-{{day|d}}", ["", "7"]) == ("none-7", 6))
    }

    @Test("A text that does not fit reports its size and writes nothing beyond the buffer")
    func tooLong() throws {
        #expect(try render("{{story}}", [String(repeating: "x", count: 65)] + [""]).1 == 65)
        #expect(try render("{{story}}{{day}}", ["abcdef", "12345678"], room: 8) == ("abcdef\0\0", 14))
    }

    @Test(
        "An error in a text template is named",
        arguments: [
            ("{{stroy}}", "collapse_id:1:1: unknown column \"stroy\"; did you mean \"story\"?"),
            ("a{{story:number}}", "collapse_id:1:1: a number placeholder must be the whole string"),
            ("a{{story", "collapse_id:1:2: this placeholder is never closed; \"{{{{\" stands for a literal \"{{\""),
        ])
    func faults(text: String, message: String) {
        #expect(throws: TemplateError.self) { try TextTemplate(text, columns: ["story", "day"], name: "collapse_id") }
        do {
            _ = try TextTemplate(text, columns: ["story", "day"], name: "collapse_id")
        } catch {
            #expect("\(error)" == message)
        }
    }
}

@Suite("Templates by language or name")
struct TemplateNamesTests {
    private let languages = TemplateNames(
        ["de", "en", "en-GB", "pt-BR", "zh-Hans", "zh-Hant"], matching: .language, fallback: 1)

    @Test(
        "A language is looked up from its full tag to its first subtag (RFC 4647 section 3.4)",
        arguments: [
            ("de", "de"), ("de-CH-1996", "de"), ("DE_at", "de"), ("en-GB-oed", "en-GB"), ("en-US", "en"),
            ("zh-Hant-TW", "zh-Hant"), ("zh_hans_CN", "zh-Hans"), ("zh-Hant-x-private1", "zh-Hant"),
            ("zh", "en"), ("pt", "en"), ("fr-CA", "en"), ("", "en"), ("-", "en"), ("x", "en"),
        ])
    func lookUp(tag: String, name: String) {
        let found = Array(tag.utf8).withUnsafeBytes { languages.find($0) }
        #expect(found.map { languages.names[$0] } == name)
    }

    @Test(
        "A variant is found by its exact name only, unless there is a fallback",
        arguments: [("a", 0), ("b-long", 1), ("A", nil), ("b", nil), ("", nil)] as [(String, Int?)])
    func names(value: String, place: Int?) {
        let names = TemplateNames(["a", "b-long"], matching: .name, fallback: nil)
        #expect(Array(value.utf8).withUnsafeBytes { names.find($0) } == place)
    }
}
