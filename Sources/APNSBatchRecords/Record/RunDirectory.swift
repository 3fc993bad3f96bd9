import APNSBatchBasics
import APNSBatchModel
import APNSBatchRows
import Glibc

/// The directory of a run. It never contains the results of another run.
package enum RunDirectory {
    /// The ledger, from which all other files follow.
    package static let ledger = "ledger"
    /// The hand-over file.
    static let handOvers = "ledger.board"
    package static let results = "results.csv"
    /// The rows of a program, as CSV.
    package static let spool = "rows.spool"
    /// The whole input, if it could be read only once.
    package static let inputCopy = "input.zst"
    /// What becomes of each row, made before the first push.
    package static let plan = "plan"
    package static let summary = "summary.json"
    /// The figures of each second.
    package static let timeline = "timeline"
    /// The parts of a run whose rows were divided.
    package static let partsManifest = "manifest.json"

    /// Takes a directory for a new run: the requested one, which is created if it does not exist, or a new one below `runs/`
    /// named by the time in UTC. Of several processes that take the same directory at the same time, one succeeds.
    ///
    package static func take(_ wanted: String?) throws(CampaignError) -> (path: String, ledger: any AppendFile) {
        let path = try make(wanted)
        let files = DirectoryFiles(path)
        guard !hasFile("\(path)/\(partsManifest)") else {
            throw CampaignError(
                .configuration,
                "\(path) holds a run in parts: call the program again that divided the rows, or name another directory")
        }
        // The ledger is created first, so that results without a ledger are those of another program.
        if hasResults(path), !files.hasLedger { throw taken(path) }
        let ledger = try files.makeLedger()
        guard !hasResults(path) || hasBareResults(path) else { throw taken(path) }
        return (path, ledger)
    }

    /// Whether the rows that a run keeps are gone.
    package static func lacksKeptRows(_ opening: RunOpening, in directory: String) -> Bool {
        let name = opening.header.isCopied ? inputCopy : opening.header.isSpooled ? spool : nil
        return name.map { unsafe access("\(directory)/\($0)", F_OK) != 0 } ?? false
    }

    /// Whether there is such a directory.
    package static func exists(_ directory: String) -> Bool {
        unsafe access("\(directory)/.", F_OK) == 0 || !isAbsence(errno)
    }

    /// Whether a failed look at a file means that there is none. Any other failure means nothing for it.
    static func isAbsence(_ code: Int32) -> Bool { [ENOENT, ENOTDIR].contains(code) }

    /// Whether there is a file, or a link.
    package static func hasFile(_ path: String) -> Bool {
        var facts = stat()
        return unsafe lstat(path, &facts) == 0
    }

    /// Removes a file of a run directory, if there is one.
    package static func removeFile(_ path: String) { unsafe unlink(path) }

    /// Whether there is a ledger, which may be empty.
    package static func hasLedger(_ directory: String) -> Bool { DirectoryFiles(directory).hasLedger }

    /// Whether a process works in a directory whose ledger has no run yet.
    package static func isTaken(_ directory: String) throws(CampaignError) -> Bool {
        guard hasLedger(directory) else { return false }
        let ledger = try DirectoryFiles(directory).ledgerToRead()
        return try CampaignError.mapping(.results) { try ledger.isLocked() }
    }

    /// Whether an input has, at the same places, the rows that the run in a directory has read.
    ///
    /// - Parameter isAsLong: Whether it must have the length of the run's input, too; otherwise only rows count around which some have ended.
    package static func hasRead(
        _ input: ChunkReader, isAsLong: Bool, in directory: String
    ) throws(CampaignError) -> Bool {
        let files = DirectoryFiles(directory)
        let history = try RunPast.readUnproven(try files.ledgerToRead(), files, name: directory).history
        guard !isAsLong || history.header?.inputBytes == input.storedBytes else { return false }
        // It has read nothing yet: what it will read is this input.
        guard let first = history.ranges.first else { return true }
        let begun = history.ranges.filter { isAsLong || $0.remaining < $0.facts.rows }
        do {
            try InputProof.check(input, name: directory, holds: begun.isEmpty ? [first] : begun)
            return true
        } catch {
            guard error.code == .configuration else { throw error }
            return false
        }
    }

    /// Whether `results.csv` has no lines of any run.
    package static func hasNoLines(_ directory: String) -> Bool {
        var facts = stat()
        guard unsafe lstat("\(directory)/\(results)", &facts) == 0 else { return true }
        guard let storage = try? FileStorage("\(directory)/\(results)", .readOnly) else { return false }
        return (try? ResultsScan(storage).isBareHeader) ?? false
    }

    /// Whether a spool has at most a header row: its process was killed before the ledger had anything.
    package static func hasNoRows(_ spool: any AppendFile) throws(CampaignError) -> Bool {
        guard spool.length <= 64 * 1024 else { return false }
        var bytes = [UInt8](repeating: 0, count: Int(spool.length))
        try CampaignError.mapping(.results) {
            _ = try unsafe bytes.withUnsafeMutableBytes { try unsafe spool.read(at: 0, into: $0) }
        }
        return bytes.dropLast().allSatisfy { $0 != UInt8(ascii: "\n") }
    }

    private static func make(_ wanted: String?) throws(CampaignError) -> String {
        guard let wanted else { return try makeNew() }
        guard !wanted.isEmpty else { throw unnamed }
        try create(wanted)
        try confirmWritable(wanted, as: wanted)
        return wanted
    }

    /// - Parameter path: The path that an error names.
    static func confirmWritable(_ place: String, as path: String) throws(CampaignError) {
        guard unsafe access("\(place)/.", W_OK | X_OK) == 0 else {
            throw CampaignError(.configuration, "cannot write into \(path): \(systemMessage())")
        }
    }

    /// Returns the absolute path of a directory, with symbolic links resolved. The last name of the path need not exist.
    package static func absolute(_ path: String) -> String {
        if let whole = resolved(path) { return whole }
        var name = path[...]
        while name.count > 1, name.hasSuffix("/") { name.removeLast() }
        let slash = name.lastIndex(of: "/")
        let above = slash.map { name[..<$0].isEmpty ? "/" : String(name[..<$0]) } ?? "."
        guard let parent = resolved(above) else { return path }
        return (parent == "/" ? "" : parent) + "/" + (slash.map { name[name.index(after: $0)...] } ?? name)
    }

    private static func resolved(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// Returns the directory that holds another one, of an absolute path.
    package static func parent(of path: String) -> String {
        let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        return parent.isEmpty ? "/" : String(parent)
    }

    static var unnamed: CampaignError {
        CampaignError(.configuration, "run directory: expected a path, found an empty text")
    }

    static func taken(_ path: String) -> CampaignError {
        CampaignError(
            .configuration,
            "\(path) holds the results of an earlier run: "
                + (hasLedger(path)
                    ? "name another directory, or resume it"
                    : "its ledger is gone: restore it, or name another directory"))
    }

    /// Whether there are results, of whatever program.
    package static func hasResults(_ directory: String) -> Bool {
        var facts = stat()
        return unsafe lstat("\(directory)/\(summary)", &facts) == 0 || lstat("\(directory)/\(results)", &facts) == 0
    }

    /// Whether `results.csv` contains at most its first line, as it may beside a ledger without a header.
    static func hasBareResults(_ directory: String) -> Bool {
        var facts = stat()
        return unsafe lstat("\(directory)/\(summary)", &facts) != 0 && hasNoLines(directory)
    }

    private static func makeNew() throws(CampaignError) -> String {
        try create(folder)
        let stamp = timestamp()
        for number in 1...1000 {
            let path = number == 1 ? "\(folder)/\(stamp)" : "\(folder)/\(stamp)-\(number)"
            if unsafe mkdir(path, mode) == 0 {
                try CampaignError.mapping(.configuration) { try FileStorage.syncDirectory(folder) }
                return path
            }
            guard errno == EEXIST else { break }
        }
        throw CampaignError(.configuration, "cannot create a directory below \(folder)/: \(systemMessage())")
    }

    /// Where runs are whose directory was not named.
    package static let folder = "runs"
    /// The permissions of the directory of a run.
    static let mode: mode_t = 0o755

    /// Creates a directory and its parents, like `mkdir -p`. Their names are durable on return.
    static func create(_ path: String, mode: mode_t = mode) throws(CampaignError) {
        try CampaignError.mapping(.configuration) {
            var maker = DirectoryMaker(mode: mode)
            try maker.make(path)
        }
    }

    private static func timestamp() -> String {
        var now = time(nil)
        var parts = unsafe tm()
        unsafe gmtime_r(&now, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return unsafe "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))Z"
    }
}
