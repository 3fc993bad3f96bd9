import APNSBatchBasics
import APNSBatchModel
import FoundationEssentials
import Glibc

/// The history of runs: the file `runs.ndjson` in a state directory or beside the run directories, to which every run adds a line when
/// it begins and when it ends, and every start that is refused. Several processes may use it at the same time. It holds counts and no
/// device token, and only the owner can read it.
///
/// A process that is killed while it adds a line leaves at most an incomplete last line. Readers ignore it, and the next
/// writer removes it.
public struct RunHistory: Sendable {
    private let path: String
    /// The absolute path of the directory.
    package let directory: String

    /// Names the history of a state directory. Nothing is read.
    ///
    /// - Parameter directory: The path of the state directory, which need not exist.
    public init(_ directory: String) {
        (path, self.directory) = ("\(directory)/runs.ndjson", RunDirectory.absolute(directory))
    }

    /// Adds that the unfinished runs of a directory were given up, so that nothing names them any more. Their files are not changed.
    ///
    /// - Parameters:
    ///   - runDirectory: The path of a run directory, which need not exist any more.
    ///   - began: When the run began, in the form of `UnfinishedRun.began`; nil for all runs of the directory.
    /// - Returns: The number of runs that were given up: 0 if the history has no unfinished run of the directory.
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the file cannot be read or written.
    public func abandon(_ runDirectory: String, began: String? = nil) throws(CampaignError) -> Int {
        let path = RunDirectory.absolute(runDirectory)
        var open: [RunKey: BegunRun] = [:]
        for entry in try entries().all {
            switch entry {
            case .began(let run) where run.runDirectory == path && began ?? run.began == run.began: open[run.key] = run
            case .ended(let run) where run.ending == "complete": open[run.key] = nil
            case .abandoned(let run): open[run.key] = nil
            default: break
            }
        }
        for var run in open.values.sorted(by: { $0.began < $1.began }) {
            (run.time, run.process, run.input) = (
                Timestamp.text(ofSeconds: SystemClock.seconds()), UInt32(getpid()), nil
            )
            _ = try add(.abandoned(run))
        }
        return open.count
    }

    /// Returns the latest line of each run that ended, in the order in which the runs began, or ended if they began in the same second;
    /// empty if there is no history yet. Lines that cannot be understood are left out.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the file cannot be read.
    public func runs() throws(CampaignError) -> [RecordedRun] {
        var latest: [RunKey: (run: RecordedRun, line: Int)] = [:]
        for (number, entry) in try entries().all.enumerated() {
            if case .ended(let run) = entry { latest[run.key] = (run, number) }
        }
        return latest.values.sorted { ($0.run.began, $0.line) < ($1.run.began, $1.line) }.map(\.run)
    }

    /// Returns the starts that were refused, in the order in which they were.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the file cannot be read.
    public func refusedStarts() throws(CampaignError) -> [RefusedStart] {
        try entries().all.compactMap { if case .refused(let start) = $0 { start } else { nil } }
    }

    /// Names the lines that cannot be understood, in one sentence without a full stop; nil if there are none. Their content about a run is not known,
    /// so that its rows may be sent again.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the file cannot be read.
    public func damage() throws(CampaignError) -> String? {
        let lines = try completeLines().split(separator: Self.lineFeed, omittingEmptySubsequences: false)
        let damaged = lines.indices.filter { !lines[$0].isEmpty && HistoryEntry(Data(lines[$0])) == nil }
        guard let first = damaged.first else { return nil }
        let others = damaged.count > 1 ? ", and \(damaged.count - 1) more" : ""
        return "\(path):\(first + 1): a line that cannot be understood\(others): its run is not known"
    }

    /// Returns the figures of a campaign's complete runs, the latest last, without those that were given up and without corrections, which have
    /// few rows.
    ///
    /// - Parameter began: Only runs that began before; nil for all. In the form of ``RecordedRun/began``.
    package func figures(of campaign: String, before began: String? = nil) throws(CampaignError) -> [RunFigures] {
        let others = Set(
            try entries().all.compactMap { entry -> RunKey? in
                switch entry {
                case .abandoned(let run): run.key
                case .began(let run): run.correctionOf == nil ? nil : run.key
                case .ended(let run): run.correctionOf == nil ? nil : run.key
                case .refused: nil
                }
            })
        let complete = try runs().filter {
            $0.campaign == campaign && $0.ending == "complete" && !others.contains($0.key)
        }
        return complete.filter { run in began.map { run.began < $0 } ?? true }.map(\.figures)
    }

    /// Creates the state directory, so that a path that cannot be used is noticed before anything is sent.
    package func prepare() throws(CampaignError) {
        try RunDirectory.create(givenDirectory, mode: Self.mode)
        try Self.naming { () throws(StorageError) in _ = try FileStorage(path, .either) }
    }

    /// Throws what ``prepare()`` would throw, and leaves nothing behind.
    package func tryPreparing() throws(CampaignError) {
        var facts = stat()
        if unsafe lstat(path, &facts) == 0 {
            return try Self.naming { () throws(StorageError) in _ = try FileStorage(path, .existing) }
        }
        try CampaignError.mapping(.configuration) {
            try DirectoryTrial(givenDirectory, mode: Self.mode).attempt { place in
                try Self.naming { () throws(StorageError) in try DirectoryTrial.makeFile(in: place, for: path) }
            }
        }
    }

    private var givenDirectory: String { String(path.dropLast("/runs.ndjson".count)) }
    private static let mode: mode_t = 0o700

    private static func naming(_ body: () throws(StorageError) -> Void) throws(CampaignError) {
        do throws(StorageError) {
            try body()
        } catch {
            throw CampaignError(.configuration, "state dir: \(error)", cause: error)
        }
    }

    /// What the history has, and up to which length.
    package struct Content: Sendable {
        package var all: [HistoryEntry]
        /// The number of bytes of its complete lines, from which it is known whether another line was added since.
        package var revision: UInt64
    }

    /// Returns all lines in their order. Lines that cannot be understood are left out.
    package func entries() throws(CampaignError) -> Content {
        let bytes = try completeLines()
        let lines = bytes.split(separator: Self.lineFeed)
        var entries = lines.compactMap { HistoryEntry(Data($0)) }
        followMoves(&entries)
        return Content(all: entries, revision: UInt64(bytes.count))
    }

    /// Corrects the paths of run directories that were moved together with the history that is beside them.
    private func followMoves(_ entries: inout [HistoryEntry]) {
        var moved: [RunKey: String] = [:]
        for key in Set(entries.compactMap(\.key)) where !RunDirectory.exists(key.runDirectory) {
            let name = key.runDirectory.split(separator: "/").last ?? ""
            let path = "\(directory)/\(name)"
            guard let opening = try? RunOpening(ifBegunIn: path), opening.began == key.began else { continue }
            moved[key] = path
        }
        guard !moved.isEmpty else { return }
        let paths = Dictionary(moved.map { ($0.key.runDirectory, $0.value) }) { $1 }
        for index in entries.indices {
            entries[index].moveCorrected(paths)
            guard let path = entries[index].key.flatMap({ moved[$0] }) else { continue }
            entries[index].move(to: path)
        }
    }

    /// Adds the line of a run that ended, unless the latest one of the run is the same. The line is on the disk on return.
    package func add(_ run: RecordedRun) throws(CampaignError) {
        let last = try entries().all.last { $0.key == run.key }
        if last == .ended(run) { return }
        _ = try add(.ended(run))
    }

    /// Adds a line, which is on the disk on return.
    ///
    /// - Parameter revision: That of the content that the line was decided by; nil to add it in any case.
    /// - Returns: False if another line was added since; then nothing is added.
    package func add(_ entry: HistoryEntry, at revision: UInt64? = nil) throws(CampaignError) -> Bool {
        try CampaignError.mapping(.results) {
            let line = Printable.text(String(decoding: try entry.line, as: UTF8.self))
            return try append(Array("\(line)\n".utf8), at: revision)
        }
    }

    private func append(_ line: [UInt8], at revision: UInt64?) throws -> Bool {
        let storage = try FileStorage(path, .either)
        guard try storage.lockPatiently() else { throw StorageError("lock", path, code: EWOULDBLOCK) }
        let lines = try Self.completeLines(storage)
        let whole = UInt64(lines.count)
        if let revision, revision != whole { return false }
        if whole < storage.length { try storage.truncate(to: whole) }
        let isEnded = lines.last.map { $0 == Self.lineFeed } ?? true
        do {
            try unsafe ((isEnded ? [] : [Self.lineFeed]) + line).withUnsafeBytes { try unsafe storage.append($0) }
            try storage.sync()
            return true
        } catch {
            // What was written of the line would be an incomplete one.
            try? storage.truncate(to: whole)
            throw error
        }
    }

    private static let lineFeed = UInt8(ascii: "\n")

    /// Returns the complete lines: all bytes up to the last line feed, and those after it if they are a whole entry, as some editors leave
    /// it.
    private static func completeLines(_ storage: FileStorage) throws -> ArraySlice<UInt8> {
        var bytes = [UInt8](repeating: 0, count: Int(storage.length))
        let count = try unsafe bytes.withUnsafeMutableBytes { try unsafe storage.read(at: 0, into: $0) }
        let end = bytes[..<count].lastIndex(of: lineFeed).map { $0 + 1 } ?? 0
        let rest = bytes[end..<count]
        return HistoryEntry(Data(rest)) == nil ? bytes[..<end] : bytes[..<count]
    }

    private func completeLines() throws(CampaignError) -> ArraySlice<UInt8> {
        do {
            return try Self.completeLines(try FileStorage(path, .readOnly))
        } catch let error as StorageError where error.isMissing {
            return []
        } catch {
            throw CampaignError(.results, "\(error)", cause: error)
        }
    }
}
