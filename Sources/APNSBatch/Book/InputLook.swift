import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords
import APNSBatchRows
import APNSBatchSending
import Glibc

/// Looks at an input, to find out whether a run of the history has sent it, or a part of it.
///
/// It reads the edges of each file, and the whole of one only if its edges and its length are those of a file that was sent.
struct InputLook: Sendable {
    private let campaign: Campaign
    /// What was read of files for this decision and for earlier ones.
    private let read = Guarded<[Question: String?]>([:])

    private struct Question: Hashable {
        let file: KnownInput.File
        /// Nil for the whole file.
        var bytes: Range<UInt64>?
    }

    init(_ campaign: Campaign) { self.campaign = campaign }

    // MARK: The input itself

    /// Why an input is not there yet; nil if it is, or if that is unknown before it is read.
    func absence(of input: RunInput) -> String? {
        for path in input.paths {
            if let code = InputLocation.absence(of: path) { return "\(path): \(systemMessage(code))" }
        }
        guard let limit = campaign.inputAgeLimit?.seconds, let files = files(of: input) else { return nil }
        let oldest = files.compactMap(\.modified).min() ?? 0
        return AgeRequirement.excess(
            of: oldest / 1_000_000_000, name: input.name, limit: limit, now: SystemClock.seconds())
    }

    private func files(of input: RunInput) -> [KnownInput.File]? {
        let files = input.paths.compactMap { KnownInput.File(at: $0) }
        return files.isEmpty || files.count < input.paths.count ? nil : files
    }

    /// What is known of an input before it is read, except for its edges; nil for one that can be read only once.
    func seen(_ input: RunInput) -> KnownInput? { files(of: input).map { KnownInput($0.map(lookedAt)) } }

    /// Reads the whole of an input, if it is made of files; nil if it is not, or cannot be read, which is reported when it is opened for its
    /// rows.
    func wholeFile(_ input: RunInput) throws(CampaignError) -> InputFingerprint? {
        guard files(of: input) != nil else { return nil }
        let format = try FormatChoice(of: input, campaign)
        return try? input.location.fingerprint(windowLog: campaign.zstdWindow, format: format)
    }

    /// Reads the edges of a file. What cannot be read is reported when the file is opened for its rows.
    private func lookedAt(_ file: KnownInput.File) -> KnownInput.File {
        var looked = file
        let edge = UInt64(InputFingerprint.edge)
        guard let head = try? location(of: file).fingerprint(most: edge, windowLog: campaign.zstdWindow) else {
            return file
        }
        looked.take(edge: head)
        if !head.isPacked { looked.take(length: file.bytes) { try? location(of: file).checksum(of: $0) } }
        return looked
    }

    private func location(of file: KnownInput.File) -> InputLocation { file.copy.map { .kept($0) } ?? .file(file.name) }

    /// What is known of an input that was opened for a run.
    ///
    /// - Parameters:
    ///   - copied: What was read of it for a copy in the run directory; nil if there is none. The files may have been replaced since.
    ///   - copy: The path of the copy.
    ///   - reader: The reader of an input that is not copied. No other thread reads from it. It is at its first row before and afterwards.
    /// - Throws: an error if the reader cannot return to its first row.
    func known(
        _ input: RunInput, _ copied: CopiedInput?, copy: String? = nil, opened reader: InputReader? = nil
    ) throws(CampaignError) -> KnownInput? {
        guard let copied else { return try opened(input, reader) }
        let files =
            copied.files.isEmpty
            ? [whole(copied, of: input)] : copied.files.map { ($0.path, $0.storedBytes, $0.fingerprint) }
        return KnownInput(
            files.map { name, bytes, found in
                var file = KnownInput.File(at: name) ?? .init(name: name, bytes: bytes)
                if file.bytes != bytes { (file.bytes, file.modified) = (bytes, nil) }
                file.take(found)
                if copied.files.isEmpty { file.copy = copy }
                return file
            })
    }

    /// What is known of files that are not copied. Their checksums are computed while they are sent.
    private func opened(_ input: RunInput, _ reader: InputReader?) throws(CampaignError) -> KnownInput? {
        guard let reader, reader.isRepeatable, let path = input.paths.first, input.paths.count == 1,
            let bytes = reader.bytesTotal
        else { return files(of: input).map { KnownInput($0.map(lookedAt)) } }
        // By the path, another file might be found by now.
        let file = KnownInput.File(name: RunDirectory.absolute(path), bytes: bytes, modified: reader.reader.modified)
        return KnownInput([try lookedAt(file, by: reader)])
    }

    /// Reads the edges of a file that is open.
    private func lookedAt(_ file: KnownInput.File, by reader: InputReader) throws(CampaignError) -> KnownInput.File {
        let found: InputFingerprint?
        do throws(InputError) {
            found = try reader.reader.head(most: UInt64(InputFingerprint.edge))
        } catch {
            throw reader.explain(error)
        }
        guard let head = found else { return file }
        var looked = file
        looked.take(edge: head)
        if !head.isPacked { looked.take(length: file.bytes) { try? reader.reader.checksum(of: $0) } }
        return looked
    }

    private func whole(_ copied: CopiedInput, of input: RunInput) -> (String, UInt64, InputFingerprint) {
        let found = copied.fingerprint
        return (input.paths.first ?? input.name, copied.storedBytes ?? found.bytes, found)
    }

    // MARK: Runs that are not finished

    /// Whether an unfinished run has begun to send this input.
    func holds(_ input: KnownInput, of run: PastRuns.Run, _ state: BookFacts.Unfinished) throws(CampaignError) -> Bool {
        guard let its = run.input, its.files.count == input.files.count, !its.files.isEmpty else { return false }
        if zip(its.files, input.files).allSatisfy({ $1.isUnchanged(since: $0) }) { return true }
        guard zip(its.files, input.files).allSatisfy({ $1.mayEqual($0) }) else { return false }
        if its.files.allSatisfy({ $0.sum != nil }) { return try areEqual(input.files, its.files) }
        // The file was moved, or written again with the same bytes: what was read of it before decides.
        guard input.files.count == 1, let file = input.files.first, file.isReadable else { return false }
        // What a run has read is unknown if its ledger is gone: a file that may be its input counts as it.
        if state.isLost { return true }
        return try hasRead(file, in: run, isAsLong: true)
    }

    /// Whether an unfinished run has begun to send rows of this input although it has another one: the input has grown, or was packed in
    /// another way, or other files were added.
    func shares(
        _ input: KnownInput, with run: PastRuns.Run, _ state: BookFacts.Unfinished
    ) throws(CampaignError) -> Bool {
        guard let its = run.input?.files else { return false }
        for file in input.files where file.isBare != true {
            for other in its {
                if file.isUnchanged(since: other) { return true }
                if try containsAll(of: other, file) { return true }
            }
            guard its.contains(where: { mayBegin(file, as: $0) }) else { continue }
            if state.isLost {
                if its.contains(where: { $0.head != nil }) { return true }
            } else if try hasRead(file, in: run, isAsLong: false) {
                return true
            }
        }
        return try equalsWhole(input, of: its)
    }

    /// Whether a file may begin with the rows of one that was not read to its end.
    private func mayBegin(_ file: KnownInput.File, as other: KnownInput.File) -> Bool {
        guard other.sum == nil, file.isReadable, file.isBare != true, other.isBare != true else { return false }
        guard let head = other.head else { return true }
        return (try? sum(of: file, 0..<head.bytes)) == head.sum
    }

    private func hasRead(
        _ file: KnownInput.File, in run: PastRuns.Run, isAsLong: Bool
    ) throws(CampaignError) -> Bool {
        if let copy = file.copy {
            return try hasRead(RunInput(copy: copy, of: file.name), in: run, isAsLong: isAsLong)
        }
        return try hasRead(RunInput(.file(file.name)), in: run, isAsLong: isAsLong)
    }

    private func hasRead(_ input: RunInput, in run: PastRuns.Run, isAsLong: Bool) throws(CampaignError) -> Bool {
        let reader = try InputReader(campaign, input: input, lanes: 1, looks: false)
        return try RunDirectory.hasRead(reader.reader, isAsLong: isAsLong, in: run.key.runDirectory)
    }

    // MARK: Runs that are over

    /// What an input is to the runs that have ended.
    func relation(
        of input: KnownInput, to runs: [PastRuns.Run], message: String, _ night: CampaignBook.Night
    ) throws(CampaignError) -> BookFacts.Input {
        let isStream = input.files.allSatisfy { $0.modified == nil }
        // A run that was complete later was started with a flag for the one that was given up, or did not need it.
        var isLast = true
        for run in runs.reversed() {
            let isTonight = night.has(run.key)
            let directory = run.key.runDirectory
            if run.isAbandoned {
                if isTonight, isStream, run.input == nil { return .abandoned(by: directory) }
                if try mayBe(input, of: run, isLast) { return .abandoned(by: directory) }
                continue
            }
            isLast = false
            guard let its = run.input, !its.files.isEmpty else { continue }
            guard run.message == message || isTonight else { continue }
            let sent = try sent(of: input.files, in: its.files)
            let isWhole = try sent.count == input.files.count ? true : equalsWhole(input, of: its.files)
            // Files without rows are in every night's.
            guard isWhole || sent.contains(where: { $0.isBare != true }) else { continue }
            if run.message != message { return .changed(by: directory) }
            guard isWhole else { return .partlySent(files: sent.map(\.name), by: directory) }
            return .sent(by: directory, tonight: isTonight)
        }
        return try growth(of: input, from: runs.filter { $0.message == message && !$0.isAbandoned }) ?? .new
    }

    /// Whether the input has files that begin with all that a run has sent.
    private func growth(of input: KnownInput, from runs: [PastRuns.Run]) throws(CampaignError) -> BookFacts.Input? {
        for run in runs.reversed() where run.rows > 0 {
            guard let its = run.input?.files else { continue }
            for file in input.files {
                for old in its where try hasGrown(file, from: old) {
                    let directory = run.key.runDirectory
                    return its.count == 1 && input.files.count == 1
                        ? .grown(from: directory, rows: run.rows) : .partlySent(files: [file.name], by: directory)
                }
            }
        }
        return nil
    }

    /// Whether a file is another one, with all of its bytes, and more after them.
    private func hasGrown(_ file: KnownInput.File, from old: KnownInput.File) throws(CampaignError) -> Bool {
        guard let sum = old.sum, let length = old.length, length > 0, old.isBare != true, file.isReadable,
            file.length.map({ $0 > length }) ?? true
        else { return false }
        if let head = old.head, try self.sum(of: file, 0..<head.bytes) != head.sum { return false }
        if let tail = old.tail, file.length != nil, tail.bytes <= length {
            guard try self.sum(of: file, length - tail.bytes..<length) == tail.sum else { return false }
        }
        return try self.sum(of: file, 0..<length) == sum
    }

    /// The files whose bytes are those of one of the others.
    private func sent(
        of files: [KnownInput.File], in others: [KnownInput.File]
    ) throws(CampaignError) -> [KnownInput.File] {
        var sent: [KnownInput.File] = []
        for file in files {
            for other in others {
                // Without a checksum, a file that was not written since is what was sent.
                let isSent = try other.sum == nil ? file.isUnchanged(since: other) : isSame(file, other)
                guard isSent else { continue }
                sent.append(file)
                break
            }
        }
        return sent
    }

    /// Whether an input has rows of a run that was given up, as far as that is known.
    ///
    /// - Parameter isLast: Whether a file counts if only its beginning is known to be the same.
    private func mayBe(_ input: KnownInput, of run: PastRuns.Run, _ isLast: Bool) throws(CampaignError) -> Bool {
        let its = run.input?.files ?? []
        for file in input.files where file.isBare != true {
            for other in its {
                if other.sum == nil, file.mayEqual(other) || (isLast && other.head != nil && mayBegin(file, as: other))
                {
                    return true
                }
                if try containsAll(of: other, file) { return true }
            }
        }
        return false
    }

    // MARK: Bytes

    /// Whether several files have, one after the other, the bytes of an input that is only known as a whole.
    private func equalsWhole(_ input: KnownInput, of its: [KnownInput.File]) throws(CampaignError) -> Bool {
        guard its.count == 1, let other = its.first, let sum = other.sum, input.files.count > 1,
            RunInput.isOfSeveral(other.name)
        else { return false }
        let files = try RunInput(.files(input.files.map(\.name)))
        let format = try FormatChoice(of: files, campaign)
        do throws(InputError) {
            let found = try files.location.fingerprint(windowLog: campaign.zstdWindow, format: format)
            return KnownInput.text(ofSum: found.sum) == sum
        } catch {
            throw CampaignError(.input, error.message(input: files.name), cause: error)
        }
    }

    private func areEqual(_ some: [KnownInput.File], _ others: [KnownInput.File]) throws(CampaignError) -> Bool {
        for (one, other) in zip(some, others) {
            guard try isSame(one, other) else { return false }
        }
        return true
    }

    /// Whether a file has all bytes of another one, and perhaps more after them.
    private func containsAll(of other: KnownInput.File, _ file: KnownInput.File) throws(CampaignError) -> Bool {
        if try isSame(file, other) { return true }
        return try hasGrown(file, from: other)
    }

    /// Whether two files have the same unpacked bytes. A file is read only if its length and its edges are those of the other one.
    private func isSame(_ file: KnownInput.File, _ other: KnownInput.File) throws(CampaignError) -> Bool {
        guard let wanted = other.sum, file.mayEqual(other) else { return false }
        return try sum(of: file, nil) == wanted
    }

    /// The checksum of some bytes of a file, or of all; nil if it ends before them.
    private func sum(of file: KnownInput.File, _ bytes: Range<UInt64>?) throws(CampaignError) -> String? {
        if bytes == nil, let sum = file.sum { return sum }
        if let head = file.head, bytes == 0..<head.bytes { return head.sum }
        let question = Question(file: file, bytes: bytes)
        if let known = read.withLock({ $0[question] }) { return known }
        let found: UInt32?
        do throws(InputError) {
            if let bytes, bytes.lowerBound > 0 {
                found = try location(of: file).checksum(of: bytes)
            } else {
                let most = bytes?.upperBound
                let all = try location(of: file).fingerprint(most: most ?? .max, windowLog: campaign.zstdWindow)
                found = most.map { $0 == all.bytes } ?? true ? all.sum : nil
            }
        } catch {
            throw CampaignError(.input, error.message(input: file.name), cause: error)
        }
        let text = found.map(KnownInput.text(ofSum:))
        read.withLock { $0[question] = .some(text) }
        return text
    }
}

extension KnownInput.File {
    /// Takes the length, and the checksum of the last bytes.
    ///
    /// - Parameter sum: Computes that of some bytes; nil if they cannot be read.
    fileprivate mutating func take(length: UInt64, sum: (Range<UInt64>) -> UInt32??) {
        self.length = length
        let bytes = min(UInt64(InputFingerprint.edge), length)
        tail = (sum(length - bytes..<length) ?? nil).map { .init(bytes: bytes, sum: KnownInput.text(ofSum: $0)) }
    }
}
