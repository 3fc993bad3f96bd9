import APNSBatchBasics
import APNSBatchTransport
import CAPNSFailingDisk
import Foundation
import Glibc
import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Append-only file") struct FileStorageTests {
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

    @Test("Appended bytes can be read, and the file continues at its end")
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

    @Test("Space is reserved without a change of the length")
    func reserves() throws {
        let storage = try open("b", .new)
        try append("x", to: storage)
        try storage.reserve(1 << 20)
        #expect(storage.length == 1)
        #expect(try Data(contentsOf: URL(filePath: path("b"))) == Data("x".utf8))
        try FileManager.default.removeItem(at: directory)
    }

    @Test("Only one holder has the lock of a file, until it ends")
    func locks() throws {
        var first: FileStorage? = try open("c", .new)
        let second = try open("c", .existing)
        #expect(try lock(first) == true)
        #expect(try lock(second) == false)
        first = nil
        #expect(try lock(second) == true)
        try FileManager.default.removeItem(at: directory)
    }

    @Test("A test of the lock blocks neither a holder nor another test")
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

    @Test("After the lock was released nothing is written, and what another one has written stays")
    func released() throws {
        let stale = try open("t", .new)
        #expect(try stale.lock())
        try append("one", to: stale)
        try stale.confirmHeld()
        stale.unlock()
        let other = try open("t", .existing)
        #expect(try other.lock())
        try append("two", to: other)
        for change in [
            { try append("x", to: stale) }, { try stale.truncate(to: 0) }, { try stale.reserve(1 << 20) },
            { try stale.confirmHeld() },
        ] as [() throws -> Void] {
            let error = #expect(throws: StorageError.self) { try change() }
            #expect(error?.code == StorageError.released)
        }
        #expect(try String(contentsOfFile: path("t"), encoding: .utf8) == "onetwo")
        try other.confirmHeld()
        try FileManager.default.removeItem(at: directory)
    }

    @Test("A file that others have written is not cut", arguments: [true, false])
    func cutsItsOwn(isLocked: Bool) throws {
        let storage = try open("u", .new)
        if isLocked { #expect(try storage.lock()) }
        try append("mine", to: storage)
        try append("theirs", to: try open("u", .existing))
        #expect(throws: StorageError("write", path("u"), code: StorageError.changed)) { try storage.truncate(to: 2) }
        #expect(try String(contentsOfFile: path("u"), encoding: .utf8) == "minetheirs")
        try FileManager.default.removeItem(at: directory)
    }

    @Test(
        "Under the lock, other bytes of the same length are noticed before anything is written, and so is another file")
    func replaced() throws {
        try Data("abc".utf8).write(to: URL(filePath: path("v")))
        let storage = try open("v", .existing)
        #expect(try storage.lock())
        try storage.confirmLength()
        var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        let other = Glibc.open(path("v"), O_WRONLY)
        #expect(pwrite(other, "x", 1, 0) == 1 && futimens(other, &times) == 0)
        close(other)
        #expect(throws: StorageError("write", path("v"), code: StorageError.changed)) { try storage.confirmLength() }
        #expect(throws: StorageError.self) { try storage.truncate(to: 0) }
        try storage.confirmHeld()
        unlink(path("v"))
        _ = try open("v", .new)
        #expect(throws: StorageError("write", path("v"), code: StorageError.changed)) { try storage.confirmHeld() }
        try FileManager.default.removeItem(at: directory)
    }

    @Test("Another process's test of the lock is waited for, and its writes are then seen")
    func waitsForLooks() throws {
        let file = try open("m", .new)
        let look = Glibc.open(path("m"), O_RDONLY)
        #expect(flock(look, LOCK_SH) == 0)
        let looker = try NamedThread("looker") {
            usleep(200_000)
            close(look)
        }
        try append("abc", to: try open("m", .existing))
        #expect(try file.lockPatiently())
        #expect(file.length == 3)
        looker.join()
        try FileManager.default.removeItem(at: directory)
    }

    @Test("A new file is accessible to its owner only")
    func mode() throws {
        _ = try open("n", .new)
        _ = try HandOverRecord(path: path("o"), slots: 1)
        // The hand-over record gets its final name when its session begins.
        for name in ["n", "o.new"] {
            var facts = stat()
            #expect(stat(path(name), &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        }
        try FileManager.default.removeItem(at: directory)
    }

    @Test("A FIFO, device or link in place of a file is refused without waiting")
    func irregular() throws {
        try #require(mkfifo(path("fifo"), 0o600) == 0)
        for opening in [FileStorage.Opening.existing, .either, .readOnly] {
            #expect(throws: StorageError("open", path("fifo"), code: StorageError.notRegular)) {
                _ = try open("fifo", opening)
            }
        }
        #expect(throws: StorageError("open", "/dev/null", code: StorageError.notRegular)) {
            _ = try FileStorage("/dev/null", .readOnly)
        }
        try Data("mine".utf8).write(to: URL(filePath: path("target")))
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("target"))
        for opening in [FileStorage.Opening.existing, .either, .readOnly] {
            #expect(throws: StorageError("open", path("link"), code: ELOOP)) { _ = try open("link", opening) }
        }
        #expect(throws: StorageError.self) { _ = try open("link", .new) }
        // The hand-over record is created under a temporary name. A symbolic link at that name is not followed either.
        try FileManager.default.createSymbolicLink(atPath: path("b.new"), withDestinationPath: path("target"))
        #expect(throws: StorageError("open", path("b.new"), code: ELOOP)) {
            _ = try HandOverRecord(path: path("b"), slots: 1)
        }
        #expect(try String(contentsOfFile: path("target"), encoding: .utf8) == "mine")
        try FileManager.default.removeItem(at: directory)
    }

    @Test("A short write is continued where it ended", .enabled(if: failing_disk_works()))
    func shortWrites() throws {
        let storage = try open("s", .new)
        failing_disk_begin(failing_disk_trouble(write_max: 3, fallocate_error: 0))
        try append("hello, world", to: storage)
        let counts = failing_disk_end()
        #expect(counts.short_writes == 3 && storage.length == 12)
        #expect(try String(contentsOfFile: path("s"), encoding: .utf8) == "hello, world")
        try storage.confirmLength()
        try FileManager.default.removeItem(at: directory)
    }

    @Test("Durable files and the directories of new files were synced", .enabled(if: failing_disk_works()))
    func syncs() throws {
        let storage = try open("y", .new)
        try append("x", to: storage)
        failing_disk_begin(failing_disk_trouble())
        try storage.sync()
        #expect(failing_disk_end().file_syncs == 1)
        failing_disk_begin(failing_disk_trouble())
        let ledger = try DirectoryFiles(directory.path).makeLedger()
        _ = try DirectoryFiles(directory.path).results(of: ledger, isNew: true)
        #expect(failing_disk_end().directory_syncs == 1)
        failing_disk_begin(failing_disk_trouble())
        _ = try RunDirectory.take(path("new/run"))
        #expect(failing_disk_end().directory_syncs == 2)
        try FileManager.default.removeItem(at: directory)
    }

    @Test(
        "A file system that cannot reserve space is still written to, and this is known",
        .enabled(if: failing_disk_works()))
    func unreserved() throws {
        for code in [EOPNOTSUPP, ENOSYS, EINVAL, EPERM] {
            let storage = try open("r\(code)", .new)
            failing_disk_begin(failing_disk_trouble(write_max: 0, fallocate_error: code))
            defer { _ = failing_disk_end() }
            try storage.reserve(1 << 20)
            #expect(storage.reservationFailure == StorageError("reserve space for", path("r\(code)"), code: code))
            try append("x", to: storage)
        }
        let full = try open("full", .new)
        failing_disk_begin(failing_disk_trouble(write_max: 0, fallocate_error: ENOSPC))
        defer { _ = failing_disk_end() }
        #expect(throws: StorageError("reserve space for", path("full"), code: ENOSPC)) { try full.reserve(1 << 20) }
        try FileManager.default.removeItem(at: directory)
    }

    @Test("Changes of the file by others are noticed and leave no hole")
    func othersAtWork() throws {
        let changes: [(String) -> Void] = [
            { truncate($0, 2) },
            { unlink($0) },
            { path in
                let file = Glibc.open(path, O_WRONLY | O_APPEND)
                _ = write(file, "x", 1)
                close(file)
            },
        ]
        for (number, change) in changes.enumerated() {
            let storage = try open("o\(number)", .new)
            try append("first", to: storage)
            try storage.confirmLength()
            change(path("o\(number)"))
            try append("second", to: storage)
            #expect(throws: StorageError("write", path("o\(number)"), code: StorageError.changed)) {
                try storage.confirmLength()
            }
        }
        #expect(try String(contentsOfFile: path("o0"), encoding: .utf8) == "fisecond")
        try FileManager.default.removeItem(at: directory)
    }

    @Test("A failure is reported with the file's name")
    func failures() throws {
        #expect(throws: StorageError("open", path("none"), code: ENOENT)) { _ = try open("none", .existing) }
        _ = try open("d", .new)
        #expect(throws: StorageError("open", path("d"), code: EEXIST)) { _ = try open("d", .new) }
        #expect(throws: StorageError("open", path(""), code: StorageError.notRegular)) {
            _ = try open("", .readOnly)
        }
        #expect(
            StorageError("open", "/x", code: StorageError.notRegular).description
                == "cannot open /x: it is not a regular file")
        let readOnly = try open("d", .readOnly)
        #expect(throws: StorageError("write", path("d"), code: EBADF)) { try append("x", to: readOnly) }
        #expect(StorageError("write", "/x/y", code: ENOSPC).description == "cannot write /x/y: No space left on device")
        try FileManager.default.removeItem(at: directory)
    }
}
