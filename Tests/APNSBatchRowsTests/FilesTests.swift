import APNSBatchBasics
import Testing

@testable import APNSBatchRows

@Suite("Several files") struct FilesTests {
    private static func read(_ files: [TemporaryFile]) -> (reading: Reading, parts: InputParts) {
        let parts = InputParts()
        do {
            let input = InputLocation.files(files.map(\.path), parts)
            return (Reading(try ChunkReader(input: input, buffers: 2)), parts)
        } catch {
            return (Reading(failure: error), parts)
        }
    }

    private static func tokens(_ reading: Reading) -> [String] {
        reading.rows.map { String(decoding: $0.fields.first ?? [], as: UTF8.self) }
    }

    @Test func `rows follow each other, and each line has its file`() throws {
        let files = [
            TemporaryFile("token,name\naa,\"two\nlines\"\nbb,x"), TemporaryFile("\u{FEFF}\n\ntoken,name\r\ncc,y\r\n"),
            TemporaryFile("token,name"), TemporaryFile(Packing.gzip.pack(Array("token,name\n\ndd,z\nee,\n".utf8))),
        ]
        let (reading, parts) = Self.read(files)
        #expect(reading.failure == nil && reading.columns == ["token", "name"].map { Array($0.utf8) })
        #expect(Self.tokens(reading) == ["aa", "bb", "cc", "dd", "ee"])
        #expect(reading.rows.map(\.row) == [1, 2, 3, 4, 5])
        let places = reading.rows.compactMap { parts.place(ofLine: $0.line) }
        #expect(places.map(\.file) == [0, 0, 1, 3, 3].map { files[$0].path })
        #expect(places.map(\.line) == [2, 4, 4, 3, 4])
        #expect(parts.has(files[2].path) && !parts.has("other"))
    }

    @Test func `many files that end anywhere have all their rows`() throws {
        var (files, wanted) = ([TemporaryFile](), [String]())
        for number in 0..<60 {
            let rows = (0..<(number * 37 % 50)).map { "\(number * 1000 + $0)" }
            wanted += rows
            let text = "token\n" + rows.joined(separator: "\n") + (number % 2 == 0 && !rows.isEmpty ? "\n" : "")
            files.append(TemporaryFile(number % 3 == 0 ? Packing.zstd.pack(Array(text.utf8)) : Array(text.utf8)))
        }
        let (reading, _) = Self.read(files)
        #expect(reading.failure == nil)
        #expect(Self.tokens(reading) == wanted)
    }

    @Test func `header rows that differ only in quotes are equal`() throws {
        let files = [
            "token,first_name\naa,x\n", "\"token\",\"first_name\"\nbb,x\n", "token,\"first_name\"\ncc,x\n",
        ].map { TemporaryFile($0) }
        let (reading, _) = Self.read(files)
        #expect(reading.failure == nil)
        #expect(Self.tokens(reading) == ["aa", "bb", "cc"])
    }

    @Test func `the file that cannot be part of the input is named before any row is read`() throws {
        let good = TemporaryFile("token,name\naa,x\n")
        for (text, says) in [
            (
                "\"token,name\"\nbb\n",
                "the header row is not that of the first file: expected token,name, found \"token,name\""
            ),
            ("token,nom\nbb,x\n", "the header row is not that of the first file: expected token,name, found token,nom"),
            ("", "the input has no header row"), ("\n\r\n", "the input has no header row"),
            ("PK\u{3}\u{4}token", "this is a ZIP archive"),
        ] {
            let bad = TemporaryFile(text)
            let (reading, _) = Self.read([good, bad])
            let message = reading.failure?.message(input: "first and 1 more") ?? ""
            #expect(message.hasPrefix(bad.path + ": ") && message.contains(says), "\(message)")
            #expect(reading.rows.isEmpty)
        }
        #expect(
            Self.read([good, good]).reading.failure
                == .inFile(
                    good.path, "\(good.path): this file is the same as \(good.path), and would be sent twice",
                    mayPass: false))
        for path in ["/no/such/file", "/tmp", "/dev/null"] {
            #expect(throws: InputError.self) {
                try ChunkReader(input: .files([good.path, path], InputParts()), buffers: 1)
            }
        }
    }

    @Test func `a file that is cut off ends the input with its name, after the rows before`() throws {
        let packed = Packing.gzip.pack(Array(("token\n" + (0..<9000).map { "\($0 * 7919)\n" }.joined()).utf8))
        let bad = TemporaryFile(Array(packed.dropLast(9)))
        let (reading, _) = Self.read([TemporaryFile("token\naa\n"), bad])
        let message = reading.failure?.message(input: "x") ?? ""
        #expect(message.hasPrefix(bad.path + ": byte ") && message.contains("cut off"), "\(message)")
    }
}
