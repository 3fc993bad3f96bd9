import APNSBatchBasics
import APNSBatchCredentials
import Testing

@Suite struct HMACTests {
    @Test func `a code is that of Python, for keys and messages of any length`() throws {
        let script = """
            import base64, hashlib, hmac, sys
            for line in sys.stdin.read().splitlines():
                key, message = (base64.b64decode(part) for part in line.split(","))
                print(base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode())
            """
        // A key that is longer than a block of SHA-256, 64 bytes, is hashed first.
        let samples = try [(1, 0), (24, 1), (63, 55), (64, 64), (65, 1000), (200, 20_000)].map { key, message in
            (key: try SecureRandom.bytes(key), message: try SecureRandom.bytes(message))
        }
        func text(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }
        let input = samples.map { "\(text($0.key)),\(text($0.message))\n" }.joined()
        let expected = try Python.run(script, input: Array(input.utf8)).split(separator: "\n").map(String.init)
        let codes = try samples.map { text(try HMACSHA256.code(of: $0.message, key: SecretBytes(copying: $0.key))) }
        #expect(codes == expected && codes.count == samples.count)
    }
}
