import APNSBatchBasics
import APNSBatchModel
import FoundationEssentials
import Glibc

/// The history of runs in a state directory: the file `runs.ndjson`, to which every run adds a line when it ends. Several
/// processes may use it at the same time. It holds counts and no device token, and only the owner can read it.
///
/// A process that is killed while it adds a line leaves at most an incomplete last line. Readers ignore it, and the next
/// writer removes it.
public struct RunHistory: Sendable {
    private let path: String

    /// Names the history of a state directory. Nothing is read.
    ///
    /// - Parameter directory: The path of the state directory, which need not exist.
    public init(_ directory: String) { path = "\(directory)/runs.ndjson" }

    /// Returns the latest line of each run, in the order in which the runs began, or ended if they began in the same second;
    /// empty if there is no history yet. Lines that cannot be understood are left out.
    ///
    /// - Throws: ``CampaignError`` with ``CampaignError/Code/results`` if the file cannot be read.
    public func runs() throws(CampaignError) -> [RecordedRun] {
        var latest: [RecordedRun.Key: (run: RecordedRun, line: Int)] = [:]
        for (number, line) in try lines().enumerated() {
            guard let run = try? JSONDecoder().decode(RecordedRun.self, from: Data(line)) else { continue }
            latest[run.key] = (run, number)
        }
        return latest.values.sorted { ($0.run.began, $0.line) < ($1.run.began, $1.line) }.map(\.run)
    }

    /// Returns the figures of a campaign's complete runs, the latest last.
    ///
    /// - Parameter began: Only runs that began before; nil for all. In the form of ``RecordedRun/began``.
    package func figures(of campaign: String, before began: String? = nil) throws(CampaignError) -> [RunFigures] {
        let complete = try runs().filter { $0.campaign == campaign && $0.ending == "complete" }
        return complete.filter { run in began.map { run.began < $0 } ?? true }.map(\.figures)
    }

    /// Creates the state directory, so that a path that cannot be used is noticed before anything is sent.
    package func prepare() throws(CampaignError) {
        try RunDirectory.create(String(path.dropLast("/runs.ndjson".count)), mode: 0o700)
        do {
            _ = try FileStorage(path, .either)
        } catch {
            throw CampaignError(.configuration, "state dir: \(error)", cause: error)
        }
    }

    /// Adds a line, unless the latest one of the run is the same. The line is on the disk on return.
    package func add(_ run: RecordedRun) throws(CampaignError) {
        if try runs().contains(run) { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try CampaignError.mapping(.results) {
            let line = Printable.text(String(decoding: try encoder.encode(run), as: UTF8.self))
            try append(Array("\(line)\n".utf8))
        }
    }

    private func append(_ line: [UInt8]) throws {
        let storage = try FileStorage(path, .either)
        guard try storage.lockPatiently() else { throw StorageError("lock", path, code: EWOULDBLOCK) }
        let whole = try Self.wholeLines(storage)
        if whole < storage.length { try storage.truncate(to: whole) }
        do {
            try line.withUnsafeBytes { try storage.append($0) }
            try storage.sync()
        } catch {
            // What was written of the line would be an incomplete one.
            try? storage.truncate(to: whole)
            throw error
        }
    }

    /// Returns the length of the file up to the end of its last complete line.
    private static func wholeLines(_ storage: FileStorage) throws -> UInt64 {
        let bytes = try content(storage)
        return UInt64(bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0)
    }

    /// Returns the complete lines.
    private func lines() throws(CampaignError) -> [ArraySlice<UInt8>] {
        let bytes: [UInt8]
        do {
            bytes = try Self.content(try FileStorage(path, .readOnly))
        } catch let error as StorageError where error.isMissing {
            return []
        } catch {
            throw CampaignError(.results, "\(error)", cause: error)
        }
        let whole = bytes[..<(bytes.lastIndex(of: UInt8(ascii: "\n")) ?? 0)]
        return whole.split(separator: UInt8(ascii: "\n"))
    }

    private static func content(_ storage: FileStorage) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(storage.length))
        let count = try bytes.withUnsafeMutableBytes { try storage.read(at: 0, into: $0) }
        return Array(bytes[..<count])
    }
}
