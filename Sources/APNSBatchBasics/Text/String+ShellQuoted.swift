extension String {
    /// The text as one word of a shell command, in quotes if it needs them.
    package var shellQuoted: String {
        let isPlain = utf8.allSatisfy {
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || "/._-+:@,".utf8.contains($0)
        }
        return isPlain && !isEmpty ? self : "'" + replacing("'", with: "'\\''") + "'"
    }
}
