import Testing

@testable import APNSBatchNotification

@Suite("Device token")
struct DeviceTokenTests {
    private func write(_ text: String) -> Result<String, DeviceTokenFault> {
        withBytes(text) { bytes in
            var fault: DeviceTokenFault?
            let result = written(bytes.count) { out in
                fault = DeviceToken.write(bytes, to: out)
                return bytes.count
            }
            return fault.map { .failure($0) } ?? .success(result)
        }
    }

    /// Returns `count` hexadecimal digits of both cases, which differ from one count to the next.
    private func digits(_ count: Int) -> String {
        let all = Array("0123456789abcdefABCDEF")
        return String((0..<count).map { all[($0 * 7 + count) % all.count] })
    }

    @Test("A token of every even length up to the limit is accepted and written in lower case")
    func lengths() {
        for count in stride(from: 2, through: DeviceToken.lengthMax, by: 2) {
            let text = digits(count)
            #expect(write(text) == .success(text.lowercased()))
        }
    }

    @Test("A token of odd length or beyond the limit is refused")
    func otherLengths() {
        for count in stride(from: 1, to: DeviceToken.lengthMax, by: 2) {
            #expect(write(digits(count)) == .failure(.odd(count)))
        }
        for count in [201, 202, 1000, 65_536] {
            #expect(write(digits(count)) == .failure(.tooLong(count)))
        }
        #expect(write("") == .failure(.empty))
        #expect(
            DeviceToken.write(UnsafeRawBufferPointer(start: nil, count: 0), to: UnsafeMutableRawPointer(bitPattern: 8)!)
                == .empty)
    }

    @Test("A token with a byte that is not a hexadecimal digit is refused", arguments: [2, 16, 30, 64])
    func everyByteEverywhere(count: Int) {
        let hex = Set("0123456789abcdefABCDEF".utf8)
        for position in 0..<count {
            for byte in UInt8.min...UInt8.max {
                var bytes = Array(digits(count).utf8)
                bytes[position] = byte
                let isBlankAtEnd = (byte == 32 || byte == 9) && (position == 0 || position == count - 1)
                let expected: DeviceTokenFault? =
                    hex.contains(byte) ? nil : isBlankAtEnd ? .blank : .notHex(at: position)
                var out = [UInt8](repeating: 0, count: count)
                let fault = withBytes(bytes) { text in
                    out.withUnsafeMutableBytes { DeviceToken.write(text, to: $0.baseAddress!) }
                }
                guard fault == expected else {
                    Issue.record("byte \(byte) at \(position) of \(count): \(String(describing: fault))")
                    return
                }
                if fault == nil {
                    #expect(String(decoding: out, as: UTF8.self) == String(decoding: bytes, as: UTF8.self).lowercased())
                }
            }
        }
    }

    @Test(
        "The error for a token states the cause and does not quote the token",
        arguments: [
            ("", "token: expected hex digits, found nothing"),
            (" abcd", "token: expected hex digits, found whitespace around them"),
            ("abcd\t", "token: expected hex digits, found whitespace around them"),
            ("<740f4707 bebcf74f", "token: expected hex digits, found \"<\" at byte 1"),
            ("\u{200B}740f", "token: expected hex digits, found \"\\u{200B}\" at byte 1"),
            ("740f\u{A0}", "token: expected hex digits, found \"\\u{A0}\" at byte 5"),
            ("74\u{FEFF}0f", "token: expected hex digits, found \"\\u{FEFF}\" at byte 3"),
            ("740f470xbebcf74f", "token: expected hex digits, found \"x\" at byte 8"),
            ("740fé", "token: expected hex digits, found \"é\" at byte 5"),
            ("740f\u{0}a", "token: expected hex digits, found \"\\u0000\" at byte 5"),
            ("740", "token: expected an even number of hex digits, found 3"),
            (String(repeating: "a", count: 300), "token: expected at most 200 hex digits, found 300 bytes"),
        ])
    func messages(text: String, message: String) {
        guard case .failure(let fault) = write(text) else {
            Issue.record("was taken")
            return
        }
        #expect(withBytes(text) { fault.message(for: $0) } == message)
    }

    @Test("A token gives the path of its request")
    func path() {
        let token = digits(64)
        let path = withBytes(token) { bytes in
            written(74) { out in
                #expect(DeviceToken.writePath(bytes, to: out) == nil)
                return 74
            }
        }
        #expect(path == "/3/device/" + token.lowercased())
        #expect(DeviceToken.pathPrefix.utf8.count + DeviceToken.lengthMax == DeviceToken.pathLengthMax)
    }
}
