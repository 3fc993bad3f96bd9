import Testing

@testable import APNSBatchNotification

@Suite("Strings files")
struct StringsFileTests {
    private func texts(_ text: String) throws -> [String: String] {
        try StringsFile(Array(text.utf8), name: "de.lproj/Localizable.strings").texts
    }

    @Test("A strings file consists of pairs of key and text, with comments between them")
    func pairs() throws {
        let found = try texts(
            #"""
            /* A friend asks. "not = a pair"; */
            "GAME_PLAY_REQUEST_FORMAT" = "%@ und %@ laden ein";  // behind it
            plain.key-1 = word;
            "alone";
            "with \"quotes\" and \\" = "line\nnext\ttab \U00e9 \Ud83d\ude00";
            """#)
        #expect(
            found == [
                "GAME_PLAY_REQUEST_FORMAT": "%@ und %@ laden ein", "plain.key-1": "word", "alone": "alone",
                "with \"quotes\" and \\": "line\nnext\ttab é 😀",
            ])
        #expect(try texts("") == [:])
    }

    @Test("A strings file may be UTF-16 with a byte order mark")
    func utf16() throws {
        let text = "\"ä\" = \"😀\";"
        let little: [UInt8] = text.utf16.reduce(into: [0xFF, 0xFE]) { $0 += [UInt8($1 & 0xFF), UInt8($1 >> 8)] }
        let big: [UInt8] = text.utf16.reduce(into: [0xFE, 0xFF]) { $0 += [UInt8($1 >> 8), UInt8($1 & 0xFF)] }
        #expect(try StringsFile(little, name: "l").texts == ["ä": "😀"])
        #expect(try StringsFile(big, name: "b").texts == ["ä": "😀"])
        #expect(try StringsFile([0xEF, 0xBB, 0xBF] + Array(text.utf8), name: "u").texts == ["ä": "😀"])
    }

    @Test(
        "Errors in a strings file are reported with their place",
        arguments: [
            ("\"a\" \"b\";", "de.lproj/Localizable.strings:1:5: expected \"=\" after the key"),
            ("\"a\" = \"b\"\n\"c\" = \"d\";", "de.lproj/Localizable.strings:2:1: expected \";\" after the text"),
            ("\"a\" = ;", "de.lproj/Localizable.strings:1:7: expected a text in quotes, found \";\""),
            ("\n “a” = \"b\";", "de.lproj/Localizable.strings:2:2: expected a key in quotes, found \"“\""),
            ("\"a\" = \"b", "de.lproj/Localizable.strings:1:7: this text is never closed"),
            (" /* \"a\" = 1;", "de.lproj/Localizable.strings:1:2: this comment is never closed"),
            ("\"a\" = \"\\Uz\";", "de.lproj/Localizable.strings:1:10: expected four hex digits after \\U"),
            (
                "bplist00",
                "de.lproj/Localizable.strings:1:1: a property list, as in a built app; give the source file that it was made of"
            ),
        ])
    func faults(text: String, message: String) {
        do {
            _ = try texts(text)
            Issue.record("no fault")
        } catch {
            #expect("\(error)" == message)
        }
    }

    @Test("Bytes of an unknown encoding are refused")
    func badEncoding() {
        #expect(throws: StringsFile.Fault.self) { try StringsFile([0x22, 0xE9, 0x22], name: "latin") }
        #expect(throws: StringsFile.Fault.self) { try StringsFile([0xFF, 0xFE, 0x00], name: "odd") }
    }

    @Test(
        "A text takes as many arguments as its highest argument number",
        arguments: [
            ("", 0, nil), ("100 %%", 0, nil), ("%@", 1, nil), ("%@ and %@", 2, nil), ("%2$@, %1$@", 2, nil),
            ("%2$@", 2, nil), ("%%@", 0, nil), ("%1$@ %1$@", 1, nil), ("%d new", 0, "%d"), ("%1$@ %2$ld", 1, "%2$ld"),
            ("50%", 0, "%"), ("%0$@", 0, "%0$@"),
        ] as [(String, Int, String?)])
    func formats(text: String, arguments: Int, foreign: String?) {
        let format = LocalisedFormat(text)
        #expect(format.arguments == arguments)
        #expect(format.foreign == foreign)
    }
}

@Suite("Keys of localised texts")
struct LocalisedKeysTests {
    private func strings() throws -> LocalisedStrings {
        let german = try StringsFile(Array(#""A" = "%@ und %@"; "B" = "da"; "C" = "%d";"#.utf8), name: "de")
        let french = try StringsFile(Array(#""A" = "%2$@, %1$@"; "B" = "%@";"#.utf8), name: "fr")
        return LocalisedStrings([("fr", french), ("de", german)])
    }

    @Test(
        "A key must exist in each language and match its arguments",
        arguments: [
            ("A", 2, []),
            (
                "A", 1,
                [
                    .arguments("\"A\" takes 2 arguments in de, found 1"),
                    .arguments("\"A\" takes 2 arguments in fr, found 1"),
                ]
            ),
            ("B", 0, [.arguments("\"B\" takes 1 argument in fr, found 0")]),
            (
                "C", 1,
                [
                    .missing("no \"C\" in the strings of fr"),
                    .arguments("\"C\" has %d in de, but a push can only fill %@"),
                ]
            ),
            ("X", 0, [.missing("no \"X\" in the strings of de, fr")]),
        ] as [(String, Int, [LocalisationFault])])
    func faults(key: String, arguments: Int, faults: [LocalisationFault]) throws {
        #expect(try strings().faults(of: key, arguments: arguments) == faults)
    }

    @Test(
        "Localisation keys are found in the alert of a payload",
        arguments: [
            (
                #"{"x":{"aps":1},"aps":{"badge":1,"alert":{"loc-args":["a",["b"],{}],"loc-key":"K","title-loc-key":"T\u0041","title-loc-args":null}}}"#,
                [("title-loc-key", "TA", 0), ("loc-key", "K", 3)]
            ),
            (
                #"{"aps":{"alert":{"subtitle-loc-key":"S","subtitle-loc-args":[]}},"loc-key":"no"}"#,
                [("subtitle-loc-key", "S", 0)]
            ),
            (#"{"aps":{"alert":"loc-key"}}"#, []), (#"{}"#, []), (#"{"aps":{"alert":{"loc-key":1"#, []), ("", []),
        ] as [(String, [(String, String, Int)])])
    func found(payload: String, entries: [(String, String, Int)]) {
        let memory = GuardedMemory(Array(payload.utf8))
        defer { withExtendedLifetime(memory) {} }
        let keys = LocalisedKeys(UnsafeRawBufferPointer(memory.bytes))
        #expect(keys.entries == entries.map { .init(name: $0.0, key: $0.1, arguments: $0.2) })
    }
}
