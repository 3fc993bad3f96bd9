import APNSBatchBasics
import Foundation
import Testing

@testable import APNSBatchSimulator

@Suite("Token counts")
struct TokenCountsTests {
    static func token(_ number: UInt64, digits: Int) -> String {
        String(repeating: "0", count: max(0, digits - 16)) + String(format: "%016llx", number).suffix(digits)
    }

    @Test("The counts agree with a dictionary, for tokens of many lengths")
    func dictionary() {
        var random = SplitMix64(seed: 5)
        var counts = TokenCounts()
        var expected: [String: (received: UInt32, accepted: UInt32)] = [:]
        var order: [String] = []
        for _ in 0..<20_000 {
            let number = random.next() % 6000
            let token = Self.token(
                number &* 0x9E37_79B9_7F4A_7C15, digits: [2, 4, 16, 18, 32, 64, 160][Int(number % 7)])
            let place = Array(token.utf8).withUnsafeBytes { counts.receive($0) }
            #expect(place != 0)
            if expected[token] == nil { order.append(token) }
            expected[token, default: (0, 0)].received += 1
            if random.next() % 2 == 0 {
                counts.accept(place)
                expected[token]?.accepted += 1
            }
        }
        #expect(counts.distinct == expected.count)
        #expect(counts.receivedAgain == expected.values.count { $0.received > 1 })
        var found: [String] = []
        counts.forEach { bytes, received, accepted in
            let token = bytes.map { String(format: "%02x", $0) }.joined()
            found.append(token)
            #expect(expected[token]?.received == received)
            #expect(expected[token]?.accepted == accepted)
        }
        #expect(found == order)
    }

    @Test("Tokens that differ only in length are distinguished")
    func lengths() {
        var counts = TokenCounts()
        for digits in stride(from: 2, through: 200, by: 2) {
            _ = Array(String(repeating: "0", count: digits).utf8).withUnsafeBytes { counts.receive($0) }
        }
        #expect(counts.distinct == 100)
    }

    @Test("Tokens with equal hashes are distinguished")
    func collisions() {
        // Among so many tokens, about four pairs have the same 32 bits of hash in the table.
        var counts = TokenCounts()
        var digits = [UInt8](repeating: 0, count: 8)
        for number in UInt32(0)..<200_000 {
            withUnsafeBytes(of: (number &* 0x9E37_79B1).bigEndian) { bytes in
                digits.withUnsafeMutableBufferPointer { Hex.unpack(bytes, to: $0.baseAddress!) }
            }
            _ = digits.withUnsafeBytes { counts.receive($0) }
        }
        #expect(counts.distinct == 200_000)
        #expect(counts.receivedAgain == 0)
    }

    @Test("The number of previous requests is counted")
    func passed() {
        var counts = TokenCounts()
        let place = Array("00ff".utf8).withUnsafeBytes { counts.receive($0) }
        #expect(counts.pass(place) == 0)
        #expect(counts.pass(place) == 1)
        #expect(counts.pass(place) == 2)
    }

    @Test("The counts are written as CSV in order of first arrival")
    func csv() throws {
        let directory = NSTemporaryDirectory() + "counts-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let path = directory + "/counts.csv"
        var counts = TokenCounts()
        for token in ["ff", "00aa", "ff", TestRequest.deviceToken] {
            counts.accept(Array(token.utf8).withUnsafeBytes { counts.receive($0) })
        }
        for _ in 0..<12_345 {
            _ = Array("0123456789abcdef0123".utf8).withUnsafeBytes { counts.receive($0) }
        }
        #expect(counts.write(toCSV: path) == nil)
        let expected = """
            token,received,accepted
            ff,2,2
            00aa,1,1
            \(TestRequest.deviceToken),1,1
            0123456789abcdef0123,12345,0

            """
        #expect(try String(contentsOfFile: path, encoding: .utf8) == expected)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["counts.csv"])
        #expect(counts.write(toCSV: path) == nil)
    }

    @Test("An unrelated file is never replaced")
    func foreign() throws {
        let path = NSTemporaryDirectory() + "rows-\(UUID().uuidString).csv"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try "token,name\n00aa,Ada\n".write(toFile: path, atomically: true, encoding: .utf8)
        let counts = TokenCounts()
        #expect(
            counts.write(toCSV: path)?.contains("already exists and does not hold the counts of a simulator") == true)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "token,name\n00aa,Ada\n")
    }

    @Test("The error states why the counts could not be written")
    func unwritable() {
        let counts = TokenCounts()
        #expect(counts.write(toCSV: "/nonexistent/counts.csv")?.contains("No such file or directory") == true)
    }

    @Test("Digits are packed and written", arguments: [0, 1, 3, 4, 5, 7, 8, 9, 31, 32, 33])
    func digits(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
        let text = Array(bytes.map { String(format: "%02x", $0) }.joined().utf8)
        var packed = [UInt8](repeating: 0, count: count + 8)
        packed.withUnsafeMutableBytes { out in text.withUnsafeBytes { Hex.pack($0, to: out.baseAddress!) } }
        #expect(Array(packed.prefix(count)) == bytes)
        var written = [UInt8](repeating: 0, count: 2 * count + 1)
        written.withUnsafeMutableBufferPointer { out in
            bytes.withUnsafeBytes { Hex.unpack($0, to: out.baseAddress!) }
        }
        #expect(Array(written.prefix(2 * count)) == text)
    }
}
