import APNSBatchBasics

extension TokenCounts {
    private static let header = "token,received,accepted\n"
    /// The header by which a file of counts is recognised.
    static let file = OutputFile.Kind("the counts of a simulator", startingWith: header)
    /// Lines that are gathered before they are written, in bytes.
    private static let pieceBytes = 64 * 1024

    /// Writes `token,received,accepted` and a line for each token in order of first arrival. The file is replaced when
    /// all is written; on failure it is left alone, and the cause is returned.
    func write(toCSV path: String) -> String? {
        do throws(OutputFileError) {
            let file = try OutputFile(path, Self.file, readers: .owner)
            try file.write(Array(Self.header.utf8))
            try writeLines(to: file)
            try file.finish()
            return nil
        } catch {
            return error.description
        }
    }

    private func writeLines(to file: OutputFile) throws(OutputFileError) {
        var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
        var used = 0
        var failure: OutputFileError?
        func flush() {
            guard failure == nil else { return }
            do throws(OutputFileError) {
                try file.write(piece.span.extracting(first: used))
            } catch {
                failure = error
            }
            used = 0
        }
        unsafe forEach { token, received, accepted in
            // Two counts of up to ten digits, two commas, the end of the line.
            let room = token.count * 2 + 23
            if used + room > piece.count { flush() }
            if room > piece.count { piece = [UInt8](repeating: 0, count: room) }
            unsafe piece.withUnsafeMutableBufferPointer { out in
                guard let start = unsafe out.baseAddress.map({ unsafe $0 + used }) else { return }
                unsafe Hex.unpack(token, to: start)
                var length = token.count * 2
                unsafe length += Self.write(received, behindComma: start + length)
                unsafe length += Self.write(accepted, behindComma: start + length)
                unsafe start[length] = UInt8(ascii: "\n")
                used += length + 1
            }
        }
        flush()
        if let failure { throw failure }
    }

    /// Writes `,` and the number; returns how many bytes.
    private static func write(_ number: UInt32, behindComma out: UnsafeMutablePointer<UInt8>) -> Int {
        unsafe out[0] = UInt8(ascii: ",")
        return unsafe Decimal.write(UInt64(number), to: out + 1) + 1
    }
}
