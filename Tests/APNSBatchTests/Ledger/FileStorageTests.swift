import Foundation
import Glibc
import LaneTransport
import Testing

@testable import APNSBatch

@Suite("A file that grows at its end") struct FileStorageTests {
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "apns-batch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private func path(_ name: String) -> String { directory.appending(path: name).path }

    private func append(_ text: String, to storage: FileStorage) throws {
        try Array(text.utf8).withUnsafeBytes { try storage.append($0) }
    }

    private func open(_ name: String, _ opening: FileStorage.Opening) throws -> FileStorage {
        try FileStorage(path(name), opening)
    }

    private func lock(_ storage: FileStorage?) throws -> Bool? { try storage?.lock() }

    private func read(_ storage: FileStorage, at offset: UInt64, count: Int) throws -> String {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = try bytes.withUnsafeMutableBytes { try storage.read(at: offset, into: $0) }
        return String(decoding: bytes[..<got], as: UTF8.self)
    }

    @Test("what was appended can be read, and the file goes on where it ended")
    func appends() throws {
        do {
            let storage = try open("a", .new)
            try append("one", to: storage)
            try append("two", to: storage)
            try storage.sync()
            #expect(storage.length == 6)
            #expect(try read(storage, at: 2, count: 100) == "etwo")
        }
        let again = try open("a", .existing)
        try append("three", to: again)
        #expect(try read(again, at: 0, count: 100) == "onetwothree")
        try again.truncate(to: 3)
        try append("!", to: again)
        #expect(try String(contentsOfFile: path("a"), encoding: .utf8) == "one!")
        try FileManager.default.removeItem(at: directory)
    }

    @Test("space is reserved without a change of the length")
    func reserves() throws {
        let storage = try open("b", .new)
        try append("x", to: storage)
        try storage.reserve(1 << 20)
        #expect(storage.length == 1)
        #expect(try Data(contentsOf: URL(filePath: path("b"))) == Data("x".utf8))
        try FileManager.default.removeItem(at: directory)
    }

    @Test("two cannot hold one file's lock, and it ends with its holder")
    func locks() throws {
        var first: FileStorage? = try open("c", .new)
        let second = try open("c", .existing)
        #expect(try lock(first) == true)
        #expect(try lock(second) == false)
        first = nil
        #expect(try lock(second) == true)
        try FileManager.default.removeItem(at: directory)
    }

    @Test("a look at the lock keeps nobody from it, nor from such a look")
    func looks() throws {
        let first = try open("l", .new)
        let look = try open("l", .readOnly)
        let other = try open("l", .readOnly)
        #expect(try !look.isLocked() && !other.isLocked())
        #expect(try lock(first) == true)
        #expect(try look.isLocked() && other.isLocked())
        first.unlock()
        #expect(try !look.isLocked())
        try FileManager.default.removeItem(at: directory)
    }

    @Test("somebody else's look at the lock is waited for, and what was written meanwhile is seen")
    func waitsForLooks() throws {
        let file = try open("m", .new)
        let look = Glibc.open(path("m"), O_RDONLY)
        #expect(flock(look, LOCK_SH) == 0)
        let looker = try LaneThread(name: "looker") {
            usleep(200_000)
            close(look)
        }
        try append("abc", to: try open("m", .existing))
        #expect(try file.lockPatiently())
        #expect(file.length == 3)
        looker.join()
        try FileManager.default.removeItem(at: directory)
    }

    @Test("a new file is for its owner alone")
    func mode() throws {
        _ = try open("n", .new)
        _ = try HandOverBoard(path: path("o"), slots: 1)
        // Not in its place before its session begins.
        for name in ["n", "o.new"] {
            var facts = stat()
            #expect(stat(path(name), &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        }
        try FileManager.default.removeItem(at: directory)
    }

    @Test("what cannot be done is said with the file's name")
    func failures() throws {
        #expect(throws: StorageError("open", path("none"), code: ENOENT)) { _ = try open("none", .existing) }
        _ = try open("d", .new)
        #expect(throws: StorageError("open", path("d"), code: EEXIST)) { _ = try open("d", .new) }
        #expect(throws: StorageError("open", path(""), code: EINVAL)) {
            _ = try open("", .readOnly)
        }
        let readOnly = try open("d", .readOnly)
        #expect(throws: StorageError("write", path("d"), code: EBADF)) { try append("x", to: readOnly) }
        #expect(StorageError("write", "/x/y", code: ENOSPC).description == "cannot write /x/y: No space left on device")
        try FileManager.default.removeItem(at: directory)
    }
}
