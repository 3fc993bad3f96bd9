import Glibc

extension TokenCounts {
    /// Writes `token,received,accepted` and a line for each token in order of first arrival. The file is replaced when
    /// all is written; on failure it is left alone, and the cause is returned.
    func write(toCSV path: String) -> String? {
        let unfinished = path + ".unfinished"
        guard let file = fopen(unfinished, "we") else { return Self.failure(unfinished, errno) }
        var cause: Int32 = writeLines(to: file) ? 0 : errno
        if fclose(file) != 0, cause == 0 {
            cause = errno
        }
        if cause == 0, rename(unfinished, path) != 0 {
            cause = errno
        }
        guard cause != 0 else { return nil }
        unlink(unfinished)
        return Self.failure(path, cause)
    }

    private func writeLines(to file: UnsafeMutablePointer<FILE>) -> Bool {
        guard fputs("token,received,accepted\n", file) >= 0 else { return false }
        var line: [UInt8] = []
        var isWhole = true
        forEach { token, received, accepted in
            let digits = token.count * 2
            // Two counts of up to ten digits, two commas, the end of the line.
            if line.count < digits + 23 {
                line = [UInt8](repeating: 0, count: digits + 64)
            }
            line.withUnsafeMutableBufferPointer { out in
                guard let start = out.baseAddress else { return }
                HexDigits.write(token, to: start)
                var length = digits
                length += Self.write(received, behindComma: start + length)
                length += Self.write(accepted, behindComma: start + length)
                start[length] = UInt8(ascii: "\n")
                isWhole = fwrite(start, length + 1, 1, file) == 1 && isWhole
            }
        }
        return isWhole
    }

    /// Writes `,` and the number; returns how many bytes.
    private static func write(_ number: UInt32, behindComma out: UnsafeMutablePointer<UInt8>) -> Int {
        out[0] = UInt8(ascii: ",")
        var digits = 1
        var rest = number
        while rest >= 10 {
            rest /= 10
            digits += 1
        }
        rest = number
        for place in stride(from: digits, to: 0, by: -1) {
            out[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        return digits + 1
    }

    private static func failure(_ path: String, _ code: Int32) -> String {
        "\(path): \(String(cString: strerror(code)))"
    }
}
