import Foundation
import Testing

@testable import APNSBatchBasics

/// Output files are written completely or not at all, and never replace an unrelated file.
@Suite struct OutputFileTests {
    private static let kind = OutputFile.Kind("notes of a test", startingWith: "note\n")
    private let directory = NSTemporaryDirectory() + "output-\(UUID().uuidString)"

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    }

    private var path: String { directory + "/note" }
    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() }
    private func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
    private func mode() -> mode_t {
        var facts = stat()
        return stat(path, &facts) == 0 ? facts.st_mode & 0o777 : 0
    }
    private func write(_ text: String, readers: OutputFile.Readers = .owner) throws {
        try OutputFile.write(Array(text.utf8), to: path, Self.kind, readers: readers)
    }

    @Test func `a file is there when it is complete, for its readers alone`() throws {
        let file = try OutputFile(path, Self.kind, readers: .owner)
        try file.write(Array("note\none\n".utf8))
        #expect(access(path, F_OK) != 0)
        try file.finish()
        #expect(try text() == "note\none\n")
        #expect(mode() == 0o600)
        #expect(try names() == ["note"])
    }

    @Test func `a file that is not finished leaves nothing, and the one before it as it was`() throws {
        try write("note\nold\n")
        do {
            let file = try OutputFile(path, Self.kind, readers: .owner)
            try file.write(Array("note\nnew\n".utf8))
        }
        #expect(try text() == "note\nold\n")
        #expect(try names() == ["note"])
        try write("note\nnew\n")
        #expect(try text() == "note\nnew\n")
    }

    @Test func `what this program did not make is left as it is`() throws {
        try "a key".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: OutputFileError.foreign(path, wanted: "notes of a test")) { try write("note\nnew\n") }
        #expect(throws: OutputFileError.self) { try OutputFile.check(path, Self.kind) }
        #expect(try !OutputFile.create([1], at: path, readers: .owner))
        #expect(try text() == "a key")
        #expect(try names() == ["note"])
    }

    @Test func `an empty file is nobody's loss`() throws {
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        try write("note\n")
        #expect(try text() == "note\n")
    }

    @Test func `a symbolic link is followed and stays, and one that leads nowhere is refused`() throws {
        let target = directory + "/target"
        symlink("target", path)
        #expect(throws: OutputFileError.system(action: "create", path: path, code: ENOENT)) { try write("note\n") }
        #expect(FileManager.default.createFile(atPath: target, contents: Data("note\nold".utf8)))
        try write("note\nnew")
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "note\nnew")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "target")
    }

    @Test func `devices are written to`() throws {
        try OutputFile.write(Array("note\n".utf8), to: "/dev/null", Self.kind, readers: .owner)
        var facts = stat()
        #expect(stat("/dev/null", &facts) == 0 && facts.st_mode & S_IFMT == S_IFCHR)
        #expect(throws: OutputFileError.system(action: "write", path: "/dev/full", code: ENOSPC)) {
            try OutputFile.write(Array("note\n".utf8), to: "/dev/full", Self.kind, readers: .owner)
        }
    }

    @Test func `what the system refuses is said with path and cause`() throws {
        let missing = directory + "/no/note"
        let error = #expect(throws: OutputFileError.self) { try OutputFile(missing, Self.kind, readers: .owner) }
        #expect(error?.description == "cannot create \(missing): No such file or directory")
        #expect(throws: OutputFileError.self) { try OutputFile(directory, Self.kind, readers: .owner) }
    }

    @Test func `of several that create a file at once one succeeds`() async throws {
        let path = path
        let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try OutputFile.create(Array("\(number)".utf8), at: path, readers: .owner) ? number : nil
                }
            }
            return try await group.reduce(into: [Int]()) { if let number = $1 { $0.append(number) } }
        }
        #expect(winners.count == 1)
        #expect(try text() == winners.first.map(String.init))
        #expect(try names() == ["note"])
    }
}
