import APNSBatchNotification
import Foundation
import Testing

/// A template, a row for it and the expected payload, all generated from a seed.
struct RandomRow {
    let template: String
    let fields: [String]

    init(_ seed: UInt64) {
        var json = RandomJSON(seed)
        json.columns = RandomColumn.all
        json.object()
        template = json.text
        var random = json.random
        fields = RandomColumn.all.map { $0.field(&random) }
    }

    static let columns = RandomColumn.all.map(\.name)

    func compile() throws -> PayloadTemplate { try PayloadTemplate(template, Self.columns) }
    var fieldBytes: [[UInt8]] { fields.map { Array($0.utf8) } }
}

/// Returns the number of bytes of white space outside strings.
func whitespaceOutsideStrings(_ json: [UInt8]) -> Int {
    var count = 0
    var isInside = false
    var index = 0
    while index < json.count {
        if isInside, json[index] == UInt8(ascii: "\\") {
            index += 1
        } else if json[index] == UInt8(ascii: "\"") {
            isInside.toggle()
        } else if !isInside, json[index] <= 0x20 {
            count += 1
        }
        index += 1
    }
    return count
}

/// Returns whether Foundation can read the bytes. Numbers that are valid JSON but too large for Swift's types count as
/// readable.
func isJSON(_ json: [UInt8]) -> Bool {
    do {
        _ = try JSONSerialization.jsonObject(with: Data(json))
        return true
    } catch {
        return "\(error)".contains("is not representable in Swift")
    }
}

@Suite struct PropertyTests {
    @Test("Random templates and rows give what a Python reference gives")
    func pythonReference() throws {
        var lines = ""
        func append(_ kind: String, _ parts: [String]) {
            lines += ([kind] + parts.map { Data($0.utf8).base64EncodedString() }).joined(separator: ",") + "\n"
        }
        let count = 1500
        for seed in 0..<UInt64(count) {
            let row = RandomRow(seed)
            let rendered = try row.compile().rendered(row.fieldBytes, capacity: 1 << 16)
            let payload = try #require(rendered.string, "seed \(seed): \(rendered) \(row.template)")
            #expect(whitespaceOutsideStrings(Array(payload.utf8)) == 0)
            append("render", [row.template, payload] + zip(RandomRow.columns, row.fields).flatMap { [$0, $1] })

            var json = RandomJSON(seed)
            json.object()
            let compact = compacted(json.text)
            append("compact", [json.text, try #require(compact.string, "seed \(seed): \(compact) \(json.text)")])
        }
        let answer = try Self.python(lines)
        #expect(answer == "\(2 * count)\n", "\(answer)")
    }

    /// Runs the reference implementation over the cases and returns its output.
    private static func python(_ cases: String) throws -> String {
        let input = FileManager.default.temporaryDirectory.appendingPathComponent("render-cases-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: input) }
        try Data(cases.utf8).write(to: input)
        let script = PayloadFixtureTests.folder.deletingLastPathComponent().appendingPathComponent(
            "render_reference.py")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script.path]
        process.standardInput = try FileHandle(forReadingFrom: input)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self)
    }

    @Test("Foundation's JSON reader returns every text as it was given")
    func foundation() throws {
        let template = try PayloadTemplate(
            #"{"t":"{{t}}","m":"<{{t}}|{{u}}>","n":"{{n:number}}","o":"{{u?}}"}"#, ["t", "u", "n"])
        for seed in 0..<UInt64(1000) {
            var json = RandomJSON(seed)
            let (t, u, n) = (
                json.characters(80), json.characters(20), "\(Int32(truncatingIfNeeded: json.random.next()))"
            )
            let payload = try #require(template.rendered(t, u, n).string)
            let object = try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any]
            let read = try #require(object)
            func equals(_ key: String, _ text: String) -> Bool {
                (read[key] as? String)?.utf8.elementsEqual(text.utf8) ?? false
            }
            #expect(equals("t", t) && equals("m", "<\(t)|\(u)>") && read["n"] as? Int == Int(n))
            #expect(u.isEmpty ? read["o"] == nil : equals("o", u))
        }
    }

    @Test("Texts of every length are escaped correctly, with a special byte at every place")
    func escapePlaces() throws {
        let template = try PayloadTemplate(#"{"t":"{{t}}"}"#, ["t"])
        for length in 0...67 {
            let plain = String(repeating: "x", count: length)
            #expect(template.rendered(plain) == .text("{\"t\":\"\(plain)\"}"))
            for place in 0..<length {
                for (special, escape) in [("\"", "\\\""), ("\u{1F}", "\\u001f"), ("\\", "\\\\")] {
                    let (before, after) = (plain.prefix(place), plain.prefix(length - place - 1))
                    let expected = Rendered.text("{\"t\":\"\(before)\(escape)\(after)\"}")
                    #expect(template.rendered("\(before)\(special)\(after)") == expected)
                }
            }
        }
    }

    @Test("A byte is escaped only if it must be")
    func escapeBytes() throws {
        let template = try PayloadTemplate(#"{"t":"{{t}}"}"#, ["t"])
        for byte in UInt8(0)..<0x80 {
            let text = String(Unicode.Scalar(byte))
            for count in [1, 5, 9, 20] {
                let payload = try #require(template.rendered(String(repeating: text, count: count)).string)
                let object = try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: String]
                #expect(object?["t"] == String(repeating: text, count: count))
                let mustEscape = byte < 0x20 || text == "\"" || text == "\\"
                let isShort = "\"\\\u{8}\t\n\u{C}\r".unicodeScalars.contains(Unicode.Scalar(byte))
                #expect(payload.utf8.count == 8 + count * (mustEscape ? (isShort ? 2 : 6) : 1))
            }
        }
    }

    @Test("Fields of 64 KiB are rendered, and report their size where they do not fit")
    func longFields() throws {
        let template = try PayloadTemplate(#"{"t":"{{t}}","j":"{{j:json}}","n":"{{n:number}}"}"#, ["t", "j", "n"])
        let text = String(repeating: "é\n\u{1}", count: 13107)
        let number = String(repeating: "7", count: 65536)
        let json = "[" + String(repeating: "1 , ", count: 16000) + "1]"
        let compact = "[" + String(repeating: "1,", count: 16000) + "1]"
        let escaped = String(repeating: "é\\n\\u0001", count: 13107)
        let expected = "{\"t\":\"\(escaped)\",\"j\":\(compact),\"n\":\(number)}"
        #expect(template.rendered(text, json, number, capacity: 1 << 20) == .text(expected))
        #expect(template.rendered(text, json, number, capacity: expected.utf8.count) == .text(expected))
        #expect(template.rendered(text, json, number, capacity: 4096) == .tooLarge(expected.utf8.count))
    }

    @Test("A payload that does not fit reports its exact size at every capacity")
    func capacity() throws {
        for seed in 0..<UInt64(60) {
            let row = RandomRow(seed)
            let template = try row.compile()
            let fields = row.fieldBytes
            let whole = template.rendered(fields, capacity: 1 << 16)
            guard case .payload(let payload) = whole else { return #expect(Bool(false), "\(whole)") }
            for capacity in stride(from: 0, through: payload.count + 40, by: payload.count > 400 ? 7 : 1) {
                let expected = capacity < payload.count ? .tooLarge(payload.count) : whole
                #expect(template.rendered(fields, capacity: capacity) == expected)
            }
            #expect(template.rendered(fields, capacity: payload.count) == whole)
            #expect(template.rendered(fields, capacity: payload.count - 1) == .tooLarge(payload.count))
        }
    }

    @Test("JSON that is cut is refused, except in white space after it")
    func truncation() {
        for seed in 0..<UInt64(60) {
            var json = RandomJSON(seed)
            json.object()
            let bytes = Array(json.text.utf8)
            for count in 0..<bytes.count {
                guard case .invalid = compacted(Array(bytes[..<count])) else {
                    Issue.record("seed \(seed) cut at \(count) passed")
                    return
                }
            }
        }
    }

    @Test("JSON with one changed byte is refused, or gives valid compact JSON that stays the same")
    func mutation() throws {
        for seed in 0..<UInt64(400) {
            var json = RandomJSON(seed)
            json.object()
            var bytes = Array(json.text.utf8)
            for _ in 0..<20 {
                let place = json.random.below(bytes.count)
                let before = bytes[place]
                bytes[place] =
                    json.random.chance(50)
                    ? UInt8(json.random.below(256)) : json.random.pick(Array("\"\\{}[],:0-eu \n".utf8))
                if case .payload(let payload) = compacted(bytes) {
                    #expect(isJSON(payload))
                    #expect(String(validating: payload, as: UTF8.self) != nil)
                    #expect(whitespaceOutsideStrings(payload) == 0)
                    #expect(compacted(payload) == .payload(payload))
                }
                bytes[place] = before
            }
        }
    }

    @Test("JSON that is copied in runs is what reading it token by token gives, also with one changed byte")
    func shortestCopy() throws {
        for seed in 0..<UInt64(400) {
            var json = RandomJSON(seed)
            json.indent = seed % 2 == 0
            json.object()
            var bytes = Array(json.text.utf8)
            for _ in 0..<20 {
                let place = json.random.below(bytes.count)
                let before = bytes[place]
                if json.random.chance(80) { bytes[place] = json.random.pick(Array("\"\\{}[],:0-eu/\n\t \u{E9}".utf8)) }
                // A text that is longer than the room for its payload is measured first, and read token by token then.
                switch (compacted(bytes), compacted(bytes + [0x20], capacity: bytes.count)) {
                case (.invalid, .invalid): break
                case (let copied, let read):
                    #expect(copied == read, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
                }
                bytes[place] = before
            }
        }
    }

    @Test("Random changes of fields cause no crash, and rendered payloads are valid JSON")
    func fieldMutation() throws {
        for seed in 0..<UInt64(300) {
            let row = RandomRow(seed)
            let template = try row.compile()
            var random = SeededGenerator(seed)
            for _ in 0..<10 {
                var fields = row.fieldBytes
                let column = random.below(fields.count)
                if random.chance(50) {
                    fields[column] = Array(fields[column].prefix(random.below(fields[column].count + 1)))
                } else if !fields[column].isEmpty {
                    fields[column][random.below(fields[column].count)] = UInt8(random.below(128))
                }
                let rendered = template.rendered(fields, capacity: 1 << 16)
                guard case .payload(let payload) = rendered else { continue }
                // An input that is cut within a character is invalid UTF-8, and so is the payload then.
                guard String(validating: payload, as: UTF8.self) != nil else { continue }
                #expect(isJSON(payload))
                #expect(compacted(payload) == rendered)
            }
        }
    }
}
