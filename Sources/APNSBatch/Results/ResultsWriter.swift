import APNSProtocol
import Glibc

/// The writer's thread: takes outcome batches, appends their lines to `results.csv`, counts the reasons.
final class ResultsWriter: @unchecked Sendable {
    // Owned by the writer's thread while it runs, read by others only after it was joined.
    private var lines: ResultLines
    private var reasons: [Reason: UInt64] = [:]
    private var failure: CampaignError?

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
        for entry in batch.entries {
            if entry.outcome == .rejected && entry.reasonLength > 0 { count(batch.reason(of: entry)) }
            if !lines.hasRoom { flush() }
            lines.append(entry, of: batch)
        }
    }

    private func count(_ reason: UnsafeRawBufferPointer) {
        reasons[Reason(rawValue: String(decoding: reason, as: UTF8.self)), default: 0] += 1
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
        while !rest.isEmpty && failure == nil {
            let written = Glibc.write(file, rest.baseAddress, rest.count)
            if written > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            } else if errno != EINTR {
                fail()
            }
        }
    }

    /// A result that cannot be written stops the campaign: nothing more may be sent that could not be accounted for.
    private func fail() {
        let error = CampaignError(.results, "cannot write \(path): \(systemMessage())")
        failure = error
        control.stop(.failure(error))
    }
}

/// The text of the current errno.
func systemMessage() -> String { String(cString: strerror(errno)) }
