/// Secrets that came into a text by mistake, such as a key that was given in the place of its file's path.
///
/// A message quotes what it is about, and so it would show them. Only what has the shape of a secret is found: a passphrase has none.
enum SecretText {
    /// What is shown in the place of a secret.
    private static let mark = Array("(not shown)".utf8)
    /// No secret is shorter, so nearly all texts need no search.
    private static let shortest = 30

    /// Returns the text with a mark in the place of the content of a private key (PEM, or base64 without its lines), of a provider token
    /// (a signed JWT), and of a signing secret of webhooks.
    static func hidden(_ text: String) -> String {
        guard text.utf8.count >= shortest else { return text }
        let bytes = Array(text.utf8)
        var (result, at, last) = ([UInt8](), 0, 0)
        while at < bytes.count {
            guard let secret = secret(in: bytes, at: at) else {
                at += 1
                continue
            }
            result += bytes[last..<secret.lowerBound] + mark
            (at, last) = (secret.upperBound, secret.upperBound)
        }
        guard last > 0 else { return text }
        return String(decoding: result + bytes[last...], as: UTF8.self)
    }

    /// Returns the secret that begins, or whose introduction begins, at a place.
    private static func secret(in bytes: [UInt8], at: Int) -> Range<Int>? {
        switch bytes[at] {
        case UInt8(ascii: "P"): return pem(in: bytes, at: at)
        case UInt8(ascii: "M"): return key(in: bytes, at: at, "MI")
        case UInt8(ascii: "L"): return key(in: bytes, at: at, "LS0tLS1CRUdJTi")
        case UInt8(ascii: "e"): return providerToken(in: bytes, at: at)
        case UInt8(ascii: "w"): return signingSecret(in: bytes, at: at)
        default: return nil
        }
    }

    /// The lines between BEGIN and END (RFC 7468), of which the second may be missing. Lines may be escaped, and there may be none.
    private static func pem(in bytes: [UInt8], at: Int) -> Range<Int>? {
        let (begin, end) = (Array("PRIVATE KEY-----".utf8), Array("-----END".utf8))
        guard bytes[at...].starts(with: begin) else { return nil }
        let start = at + begin.count
        if let stop = (start..<bytes.count).first(where: { bytes[$0...].starts(with: end) }) {
            return longestRun(in: bytes[start..<stop]) >= lineMin ? start..<stop : nil
        }
        // A message that only names the line continues with words.
        let line = firstOfLine(in: bytes, from: start)
        return self.end(of: bytes, from: line, isBase64) - line >= lineMin ? start..<bytes.count : nil
    }

    /// The first line of a body is longer: 64 characters (RFC 7468, section 2).
    private static let lineMin = 24

    private static func longestRun(in bytes: ArraySlice<UInt8>) -> Int {
        bytes.split(whereSeparator: { !isBase64($0) }).map(\.count).max() ?? 0
    }

    /// The place after white space and escaped line ends.
    private static func firstOfLine(in bytes: [UInt8], from: Int) -> Int {
        var at = from
        while at < bytes.count {
            let isEscape = bytes[at] == UInt8(ascii: "\\") && at + 1 < bytes.count && "nr".utf8.contains(bytes[at + 1])
            guard isEscape || " \n\r\t".utf8.contains(bytes[at]) else { break }
            at += isEscape ? 2 : 1
        }
        return at
    }

    /// The DER of a private key, as base64: it is a sequence of more than 127 bytes. Or the base64 of a whole PEM file, which begins
    /// with `-----BEGIN`.
    private static func key(in bytes: [UInt8], at: Int, _ prefix: String) -> Range<Int>? {
        guard bytes[at...].starts(with: prefix.utf8), at == 0 || !isBase64(bytes[at - 1]) else { return nil }
        let range = at..<end(of: bytes, from: at, isBase64)
        return range.count >= 100 ? range : nil
    }

    /// Three parts of base64url with dots between them (RFC 7515, section 3.1).
    private static func providerToken(in bytes: [UInt8], at: Int) -> Range<Int>? {
        guard bytes[at...].starts(with: "eyJ".utf8), at == 0 || !isBase64URL(bytes[at - 1]) else { return nil }
        var place = at
        for part in 0..<3 {
            if part > 0 {
                guard place < bytes.count, bytes[place] == UInt8(ascii: ".") else { return nil }
                place += 1
            }
            let next = end(of: bytes, from: place, isBase64URL)
            guard next - place >= 16 else { return nil }
            place = next
        }
        return at..<place
    }

    private static func signingSecret(in bytes: [UInt8], at: Int) -> Range<Int>? {
        let prefix = Array("whsec_".utf8)
        guard bytes[at...].starts(with: prefix) else { return nil }
        let range = (at + prefix.count)..<end(of: bytes, from: at + prefix.count, isBase64)
        return range.count >= 24 ? range : nil
    }

    private static func end(of bytes: [UInt8], from: Int, _ belongs: (UInt8) -> Bool) -> Int {
        bytes[from...].firstIndex { !belongs($0) } ?? bytes.count
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }

    private static func isBase64(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "+/=".utf8.contains(byte) }
    private static func isBase64URL(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "-_".utf8.contains(byte) }
}
