import APNSBatchBasics
import FoundationEssentials
import Glibc
import Synchronization

/// The events of a run that were not delivered yet: a directory `outbox` in the run directory, with one file for each event and
/// endpoint. Files are added at any time; only the process that holds the lock delivers and removes them.
package struct Outbox: Sendable {
    package let directory: String
    package let runDirectory: String

    package init(ofRunIn runDirectory: String) {
        self.runDirectory = runDirectory
        directory = runDirectory + "/outbox"
    }

    /// An entry and the name of its file.
    package struct Item: Sendable {
        package let name: String
        package var entry: OutboxEntry
    }

    private static let kind = OutputFile.Kind("an event of a webhook", at: .own) { OutboxEntry(file: $0) != nil }
    private static let markKind = OutputFile.Kind("a mark of an endpoint", at: .own, startingWith: "{")
    private static let lockName = "lock"
    private static let number = Atomic(0)

    // MARK: Writing

    /// Adds an entry. When this returns, it is on the disk, and only then may a first attempt be made.
    package func add(_ entry: OutboxEntry) throws { try write(entry.file, to: Self.newName(entry), Self.kind) }

    private static func newName(_ entry: OutboxEntry) -> String {
        let milliseconds = "\(SystemClock.milliseconds())"
        let number = number.add(1, ordering: .relaxed).newValue
        // Names are sorted by time. An id has characters of file names only.
        return "\(milliseconds)-\(String(number + 1_000_000).dropFirst())-\(entry.id).json"
    }

    private func make() throws(StorageError) {
        if unsafe mkdir(directory, 0o700) == 0 { return try FileStorage.syncDirectory(runDirectory) }
        guard errno == EEXIST else { throw StorageError("create", directory, code: errno) }
        guard isOwn else { throw StorageError("write into", directory, code: EACCES) }
    }

    private func write(_ bytes: [UInt8], to name: String, _ kind: OutputFile.Kind) throws {
        // A process that finds the directory empty removes it, possibly between two of these steps.
        for _ in 0..<3 {
            try make()
            do {
                try OutputFile.write(bytes, to: path(name), kind, readers: .owner)
                return try FileStorage.syncDirectory(directory)
            } catch OutputFileError.system(_, _, ENOENT) {}
        }
        throw StorageError("create", directory, code: ENOENT)
    }

    private func path(_ name: String) -> String { "\(directory)/\(name)" }

    // MARK: Reading

    /// Whether the directory exists, and belongs to this user alone: a file in it makes this process read the files that it names.
    package var isOwn: Bool {
        var facts = stat()
        guard unsafe lstat(directory, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR else { return false }
        return facts.st_uid == geteuid() && facts.st_mode & 0o077 == 0
    }

    /// Whether the directory exists.
    package var exists: Bool { isThere(directory) }

    private var names: [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            names.append(
                unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
                    unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names.sorted()
    }

    /// The number of events that wait.
    package var count: Int { names.count { Self.isOfEntry($0) } }

    private static func isOfEntry(_ name: String) -> Bool { name.first?.isNumber == true && name.hasSuffix(".json") }

    /// The events that wait, oldest first. Files that are no events are left alone.
    package var items: [Item] {
        guard isOwn else { return [] }
        return names.filter(Self.isOfEntry).compactMap { name in
            guard let bytes = try? OpenFile.content(of: path(name), most: 1 << 20) else { return nil }
            return OutboxEntry(file: bytes).map { Item(name: name, entry: $0) }
        }
    }

    // MARK: A run whose end was not reported yet

    private static let openName = "open"

    /// Notes that a run has begun, whose end must be reported.
    package func beginRun() throws { try write(Array("{}\n".utf8), to: Self.openName, Self.markKind) }

    /// Notes that the end of the run is in the outbox.
    package func endRun() { unsafe unlink(path(Self.openName)) }

    /// Whether a run has begun and its end is not in the outbox: it continues, or its process was killed.
    package var hasOpenRun: Bool { isThere(path(Self.openName)) }

    private func isThere(_ path: String) -> Bool {
        var facts = stat()
        return unsafe lstat(path, &facts) == 0
    }

    // MARK: Endpoints that are gone

    private static func mark(_ urlFile: String) -> String {
        var path = urlFile
        let sum = path.withUTF8 { unsafe CRC32C.of(UnsafeRawBufferPointer($0)) }
        return "gone-\(String(sum, radix: 16)).json"
    }

    /// Whether the endpoint has refused further events of this run.
    package func isGone(_ urlFile: String) -> Bool { isThere(path(Self.mark(urlFile))) }

    /// Notes that an endpoint refuses further events. Returns the path of the mark.
    package func noteGone(_ urlFile: String) throws -> String {
        let path = path(Self.mark(urlFile))
        let text = try JSONEncoder().encode(["url_file": urlFile])
        try OutputFile.write(Array(text), to: path, Self.markKind, readers: .owner)
        return path
    }

    // MARK: With the lock

    /// The right to deliver and remove what is in an outbox. It ends with this object.
    package final class Lock: Sendable {
        fileprivate let file: FileStorage

        fileprivate init(_ file: FileStorage) { self.file = file }

        deinit { file.unlock() }
    }

    /// Takes the lock. Returns nil if another process has it, or if there is no outbox.
    ///
    /// - Throws: If its file cannot be used: to wait for it would be in vain.
    package func lock() throws(StorageError) -> Lock? {
        guard isOwn else { return nil }
        let file: FileStorage
        do throws(StorageError) {
            file = try FileStorage(path(Self.lockName), .either)
        } catch let error where error.isMissing {
            // Another process has removed the directory meanwhile, because nothing was left in it.
            return nil
        }
        guard try file.lock() else { return nil }
        let lock = Lock(file)
        // The process that had the lock may have removed the file with the directory.
        return (try? file.confirmLength()) == nil ? nil : lock
    }

    /// Replaces an entry after an attempt that failed.
    package func replace(_ item: Item, _ lock: Lock) throws {
        try OutputFile.write(item.entry.file, to: path(item.name), Self.kind, readers: .owner, isDurable: false)
    }

    /// Removes an entry that was delivered or given up.
    package func remove(_ item: Item, _ lock: Lock) {
        unsafe unlink(path(item.name))
        try? FileStorage.syncDirectory(directory)
    }

    /// Removes the directory if nothing is in it and no process delivers.
    package func removeIfEmpty() {
        if let lock = try? lock() { removeIfEmpty(lock) }
    }

    /// Removes the directory if nothing is in it but the lock.
    package func removeIfEmpty(_ lock: Lock) {
        let left = names.filter { ![".", "..", Self.lockName].contains($0) }
        let old = Int(SystemClock.seconds()) - 600
        // A process that was killed may have left unfinished files.
        let unfinished = left.filter { name in
            var facts = stat()
            guard name.hasPrefix("."), unsafe lstat(path(name), &facts) == 0 else { return false }
            return facts.st_mtim.tv_sec < old
        }
        for name in unfinished { unsafe unlink(path(name)) }
        guard left.count == unfinished.count else { return }
        unsafe unlink(path(Self.lockName))
        // Fails if an entry has been added meanwhile.
        unsafe rmdir(directory)
    }
}
