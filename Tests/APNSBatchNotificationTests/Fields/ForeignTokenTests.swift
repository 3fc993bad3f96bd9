import APNSBatchBasics
import Testing

@testable import APNSBatchNotification

@Suite("Tokens of others") struct ForeignTokenTests {
    private static let hex = String(repeating: "a1b2c3d4", count: 8)

    /// Each form in which exports have something else in place of a token, and a part of the message.
    static let samples: [(form: ForeignToken, text: String, cure: String)] = [
        (.expo, "ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]", "Expo"),
        (.expo, "ExpoPushToken[AbC-_1]", "getDevicePushTokenAsync()"),
        (.fcm, "dQw4w9WgXcQ:APA91b" + String(repeating: "aB-_9", count: 26), "FCM"),
        (.fcm, "APA91b" + String(repeating: "aB9", count: 40), "apnsToken"),
        (.fcm, "c-x_y:APA91b" + String(repeating: "x", count: 300), "FCM"),
        (.description, "<a1b2c3d4 a1b2c3d4 a1b2c3d4 a1b2c3d4 a1b2c3d4 a1b2c3d4 a1b2c3d4 a1b2c3d4>", "without < and >"),
        (.cutDescription, "{length = 32, bytes = 0xa1b2c3d4 a1b2c3d4 ... c3d4a1b2 }", "lacks bytes in the middle"),
        (.cutDescription, "{length=32,bytes=0xa1b2}", "iOS 13"), (.bytea, "\\x" + hex, "encode(token, 'hex')"),
        (.prefixed, "0x" + hex, "leave out the 0x"), (.prefixed, "0X" + hex.uppercased(), "leave out the 0x"),
        (.separated, "a1b2c3d4 a1b2c3d4 a1b2c3d4 a1b2c3d4 a1b2c3d4 a1b2c3d4 a1b2c3d4 a1b2c3d4", "digits only"),
        (.separated, (0..<32).map { _ in "a1" }.joined(separator: ":"), "digits only"),
        (.quoted, "\"\(hex)\"", "quotes"),
        (.quoted, "'\(hex)'", "quotes"), (.pythonBytes, "b'\\xa1\\xb2\\xc3'", "token.hex()"),
        (.uuid, "123e4567-e89b-12d3-a456-426614174000", "UUID"),
        (.uuid, "{123E4567-E89B-12D3-A456-426614174000}", "UUID"),
        (.base64, "obLD1KGyw9ShssPUobLD1KGyw9ShssPUobLD1KGyw9Q=", "64 hex digits"),
        (.base64, "obLD1KGyw9ShssPUobLD1KGyw9ShssPUobLD1KGyw9Q", "64 hex digits"),
        (.base64, "ob_D1KGyw9ShssPUobLD1KGyw9ShssPUobLD1KGyw-Q=", "64 hex digits"),
        (.url, "https://fcm.googleapis.com/fcm/send/abc", "Web Push"),
        (.jwt, "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJ4In0.c2ln", "JSON Web Token"),
        (.exponent, "1.23457E+76", "spreadsheet"), (.exponent, "1,2e+9", "spreadsheet"),
        (.nullWord, "NULL", "leave such rows out"),
        (.nullWord, "\\N", "leave such rows out"),
        (.footer, "(1 row)", "remove it"), (.footer, "(1200 rows)", "remove it"), (.footer, "\\.", "remove it"),
        (.footer, "\u{1A}", "remove it"), (.footer, "5 rows in set (0.00 sec)", "remove it"),
    ]

    private func message(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        return bytes.withUnsafeBytes { bytes in
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + 16, alignment: 16)
            defer { room.deallocate() }
            return DeviceToken.write(bytes, to: room.baseAddress!)?.message(for: bytes)
        }
    }

    @Test("A token of another kind is named, with what to do, and not shown", arguments: samples)
    func named(form: ForeignToken, text: String, cure: String) throws {
        for text in [text, " \(text)\t"] {
            let found = try #require(message(text))
            #expect(
                found == "token: expected hex digits, found \(form.message)" && form.message.contains(cure), "\(found)")
            #expect(!found.contains("a1b2") && !found.contains("obLD") && !found.contains("426614174000"))
        }
    }

    @Test("Every form has a sample")
    func complete() { #expect(Set(Self.samples.map(\.form)) == Set(ForeignToken.allCases)) }

    @Test(
        "Other faults keep their messages",
        arguments: [
            ("", "found nothing"), (" abcd", "found whitespace around them"),
            ("abc", "an even number of hex digits, found 3"),
            ("hello", #"found "h" at byte 1"#),
            (String(repeating: "a", count: 43), "an even number of hex digits, found 43"),
            (String(repeating: "z", count: 44), #"found "z" at byte 1"#), ("ab cd", #"found " " at byte 3"#),
            (String(repeating: "a", count: 202), "at most 200 hex digits"),
        ])
    func others(text: String, found: String) throws {
        #expect(try #require(message(text)).hasSuffix(found) || message(text)?.contains(found) == true)
    }

    @Test("Tokens of every length stay tokens")
    func tokens() {
        for count in 1...100 { #expect(message(String(repeating: "e1", count: count)) == nil) }
    }
}
