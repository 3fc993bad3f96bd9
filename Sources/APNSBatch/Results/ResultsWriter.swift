import APNSProtocol
import Glibc

/// The writer's thread: takes outcome batches, appends their lines to `results.csv`, counts the reasons.
final class ResultsWriter: @unchecked Sendable {
    // Owned by the writer's thread while it runs, read by others only after it was joined.
    private var lines: ResultLines
    private var reasons: [Reason: UInt64] = [:]
    private var failure: CampaignError?
    /// Bytes of the file that are whole lines.
    private var wholeBytes: off_t = 0

    /// Different reasons that are counted; a server may make up any number of them.
    private static let reasonLimit = 256

    private let file: Int32
    private let path: String
    private let exchange: OutcomeExchange
    private let control: RunControl

    init(
        path: String, campaign: (UInt64, UInt64), exchange: OutcomeExchange, control: RunControl
    ) throws(CampaignError) {
        self.path = path
        self.exchange = exchange
        self.control = control
        lines = ResultLines(campaign: campaign)
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw CampaignError(.results, "cannot create \(path): \(systemMessage())") }
    }

    deinit { close(file) }

    /// Runs until the exchange is closed; then everything is in the file and on the disk.
    func run() {
        write(header: ResultLines.header)
        while let batch = exchange.filled.pop() {
            take(batch)
            batch.removeAll()
            exchange.free.push(batch)
        }
        flush()
        if failure == nil && fsync(file) != 0 && errno != EINVAL { fail() }
    }

    /// After the thread was joined: answers by reason, and what went wrong.
    func finish() -> (reasons: [Reason: UInt64], failure: CampaignError?) { (reasons, failure) }

    private func take(_ batch: OutcomeBatch) {
        guard failure == nil else { return }
        for entry in batch.entries {
            if entry.outcome == .rejected && entry.reasonLength > 0 { count(batch.reason(of: entry)) }
            if !lines.hasRoom { flush() }
            lines.append(entry, of: batch)
        }
    }

    private func count(_ reason: UnsafeRawBufferPointer) {
        let reason = Reason(bytes: reason)
        let isKept = reasons[reason] != nil || reasons.count < Self.reasonLimit
        reasons[isKept ? reason : .unknown("other"), default: 0] += 1
    }

    private func write(header: StaticString) {
        write(UnsafeRawBufferPointer(start: header.utf8Start, count: header.utf8CodeUnitCount))
    }

    private func flush() {
        write(lines.bytes)
        lines.removeAll()
    }

    private func write(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes
        var position = lseek(file, 0, SEEK_CUR)
        while !rest.isEmpty && failure == nil {
            let written = Glibc.write(file, rest.baseAddress, rest.count)
            if written > 0 {
                noteWhole(UnsafeRawBufferPointer(rebasing: rest[..<written]), at: &position)
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            } else if errno != EINTR {
                fail()
            }
        }
    }

    /// Remembers where the last whole line of what was written ends.
    private func noteWhole(_ written: UnsafeRawBufferPointer, at position: inout off_t) {
        if let end = written.lastIndex(of: UInt8(ascii: "\n")) { wholeBytes = position + off_t(end) + 1 }
        position += off_t(written.count)
    }

    /// A result that cannot be written stops the campaign: nothing more may be sent that could not be accounted for.
    private func fail() {
        let error = CampaignError(.results, "cannot write \(path): \(systemMessage())")
        failure = error
        // No torn line stays behind.
        _ = ftruncate(file, wholeBytes)
        control.stop(.failure(error))
    }
}

/// The text of the current errno, or of another.
func systemMessage(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }
