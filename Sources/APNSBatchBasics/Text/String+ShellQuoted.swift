extension String {
    /// The text as one word of a shell command, in quotes if it needs them. What a terminal would obey is written as `$'…'` (POSIX.1-2024,
    /// section 2.2.4), so that the command can be shown and copied.
    package var shellQuoted: String {
        let isPlain = utf8.allSatisfy {
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || "/._-+:@,".utf8.contains($0)
        }
        if isPlain, !isEmpty { return self }
        guard unicodeScalars.contains(where: \.isHarmful) else { return "'" + replacing("'", with: "'\\''") + "'" }
        return "$'" + unicodeScalars.map(\.inDollarQuotes).joined() + "'"
    }
}

extension Unicode.Scalar {
    fileprivate var inDollarQuotes: String {
        if isHarmful { return UTF8.encode(self)?.map(Self.octal).joined() ?? "" }
        return self == "'" || self == "\\" ? "\\\(self)" : "\(self)"
    }

    /// An octal escape has three digits at most, so that a digit after it is not taken for a part of it.
    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
}
