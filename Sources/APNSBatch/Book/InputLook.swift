import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending
import Glibc

/// Looks at an input, to find out whether a run of the history has sent it.
struct InputLook: Sendable {
    private let campaign: Campaign
    /// Checksums of files that were read for this decision and for earlier ones.
    private let sums = Guarded<[KnownInput.File: String]>([:])

    init(_ campaign: Campaign) { self.campaign = campaign }

    /// Why an input is not there yet; nil if it is, or if nobody can know before it is read.
    func absence(of input: RunInput) -> String? {
        for path in input.paths {
            if let code = InputLocation.absence(of: path) { return "\(path): \(systemMessage(code))" }
        }
        guard let limit = campaign.inputAgeLimit?.seconds, let files = seen(input)?.files else { return nil }
        let oldest = files.compactMap(\.modified).min() ?? 0
        return InputReader.excess(
            of: oldest / 1_000_000_000, name: input.name, limit: limit, now: SystemClock.seconds())
    }

    /// What is known of an input before it is read; nil for one that can be read only once.
    func seen(_ input: RunInput) -> KnownInput? {
        let files = input.paths.compactMap { KnownInput.File(at: $0) }
        return files.isEmpty || files.count < input.paths.count ? nil : KnownInput(files)
    }

    /// What is known of an input that was opened for a run.
    ///
    /// - Parameter copied: What was read of it for a copy in the run directory; nil if there is none. The files may have been replaced since.
    func known(_ input: RunInput, _ copied: CopiedInput?) -> KnownInput? {
        // The checksum of a file that is not copied is computed while it is sent.
        guard let copied else { return seen(input) }
        let files =
            copied.files.isEmpty ? [whole(copied, of: input)] : copied.files.map { ($0.path, $0.storedBytes, $0.sum) }
        return KnownInput(
            files.map { name, bytes, sum in
                var file = KnownInput.File(at: name) ?? .init(name: name, bytes: bytes)
                if file.bytes != bytes { (file.bytes, file.modified) = (bytes, nil) }
                file.sum = KnownInput.text(ofSum: sum)
                return file
            })
    }

    private func whole(_ copied: CopiedInput, of input: RunInput) -> (String, UInt64, UInt32) {
        guard let path = input.paths.first else { return (input.name, copied.bytes, copied.sum) }
        return (path, copied.storedBytes ?? copied.bytes, copied.sum)
    }

    /// Whether an unfinished run has begun to send this input.
    func holds(_ input: KnownInput, of run: PastRuns.Run) throws(CampaignError) -> Bool {
        guard let its = run.input, its.files.count == input.files.count, !its.files.isEmpty else { return false }
        if zip(its.files, input.files).allSatisfy({ $1.isUnchanged(since: $0) }) { return true }
        guard zip(its.files, input.files).allSatisfy({ $0.bytes == $1.bytes }) else { return false }
        if its.files.allSatisfy({ $0.sum != nil }) { return try areEqual(input.files, its.files) }
        // The file was moved, or written again with the same bytes: what was read of it before decides.
        guard input.files.count == 1, let file = input.files.first, file.modified != nil else { return false }
        // Nobody knows what a run has read whose record is gone: a file of that size may be its input.
        guard let state = try BookFacts.Unfinished(of: run.key) else { return false }
        if state.isLost { return true }
        let reader = try InputReader(campaign, input: RunInput(.file(file.name)), lanes: 1)
        return try RunDirectory.hasRead(reader.reader, in: run.key.runDirectory)
    }

    /// What an input is to the runs that have ended.
    func relation(
        of input: KnownInput, to runs: [PastRuns.Run], message: String, night: String
    ) throws(CampaignError) -> BookFacts.Input {
        for run in runs.reversed() {
            guard let its = run.input, !its.files.isEmpty else { continue }
            let isTonight = run.key.began >= night
            if run.isAbandoned, try mayBe(input.files, its.files) { return .abandoned(by: run.key.runDirectory) }
            guard run.message == message || isTonight else { continue }
            let sent = try sent(of: input.files, in: its.files)
            guard !sent.isEmpty else { continue }
            let directory = run.key.runDirectory
            if run.message != message { return .changed(by: directory) }
            guard sent.count == input.files.count else {
                return .partlySent(files: sent.map(\.name), by: directory)
            }
            return .sent(by: directory, tonight: isTonight)
        }
        return try growth(of: input, from: runs.filter { $0.message == message }) ?? .new
    }

    /// Whether the input is a file that begins with all that a run has sent.
    private func growth(of input: KnownInput, from runs: [PastRuns.Run]) throws(CampaignError) -> BookFacts.Input? {
        guard input.files.count == 1, let file = input.files.first, file.modified != nil else { return nil }
        for run in runs.reversed() {
            guard let its = run.input?.files, its.count == 1, let old = its.first, old.name == file.name,
                old.bytes < file.bytes, run.rows > 0, let sum = old.sum
            else { continue }
            let reader = try InputReader(campaign, input: RunInput(.file(file.name)), lanes: 1).reader
            guard reader.packing == nil, let size = reader.size, old.bytes <= size else { return nil }
            let begins: UInt32?
            do throws(InputError) {
                begins = try reader.checksum(of: 0..<old.bytes)
            } catch {
                throw CampaignError(.input, error.message(input: file.name), cause: error)
            }
            guard let begins else { continue }
            if KnownInput.text(ofSum: begins) == sum {
                return .grown(from: run.key.runDirectory, rows: run.rows)
            }
        }
        return nil
    }

    /// The files whose bytes are those of one of the others.
    private func sent(
        of files: [KnownInput.File], in others: [KnownInput.File]
    ) throws(CampaignError) -> [KnownInput.File] {
        var sent: [KnownInput.File] = []
        for file in files {
            for other in others where try isSame(file, other) {
                sent.append(file)
                break
            }
        }
        return sent
    }

    /// Whether files are those of a run that was given up, as far as their checksums are known.
    private func mayBe(_ files: [KnownInput.File], _ others: [KnownInput.File]) throws(CampaignError) -> Bool {
        guard files.map(\.bytes) == others.map(\.bytes) else { return false }
        for other in others where other.sum == nil { return true }
        return try areEqual(files, others)
    }

    private func areEqual(_ some: [KnownInput.File], _ others: [KnownInput.File]) throws(CampaignError) -> Bool {
        for (one, other) in zip(some, others) {
            guard try isSame(one, other) else { return false }
        }
        return true
    }

    /// Whether two files have the same bytes. A file is read only if it has as many bytes as one that was sent.
    private func isSame(_ file: KnownInput.File, _ other: KnownInput.File) throws(CampaignError) -> Bool {
        guard file.bytes == other.bytes, let wanted = other.sum else { return false }
        return try sum(of: file) == wanted
    }

    private func sum(of file: KnownInput.File) throws(CampaignError) -> String {
        if let sum = file.sum ?? sums.withLock({ $0[file] }) { return sum }
        let sum = try read(.file(file.name), name: file.name).sum
        sums.withLock { $0[file] = sum }
        return sum
    }

    /// Reads an input to its end, unpacked.
    private func read(_ location: InputLocation, name: String) throws(CampaignError) -> (bytes: UInt64, sum: String) {
        do throws(InputError) {
            let content = try location.checksum(windowLog: campaign.zstdWindow)
            return (content.bytes, KnownInput.text(ofSum: content.sum))
        } catch {
            throw CampaignError(.input, error.message(input: name), cause: error)
        }
    }
}
