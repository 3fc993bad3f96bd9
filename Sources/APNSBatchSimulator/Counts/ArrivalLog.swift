import APNSBatchBasics
import Glibc

/// The times at which requests were received. A request arrived before the poll that returned it ended, and after the begin
/// of the last poll that had to wait: at that moment nothing was left to read.
struct ArrivalLog {
    /// The requests that one poll returned.
    private struct Poll {
        /// The two times, in nanoseconds of the monotonic clock.
        var time: UInt64
        var since: UInt64
        var requests: UInt32
    }

    private var polls: [Poll] = []
    /// When nothing was left to read, in nanoseconds.
    private var since: UInt64 = 0

    private static let header = "monotonic_ns,since_ns,requests\n"
    static let file = OutputFile.Kind("the arrivals at a simulator", startingWith: header)

    /// `RUSAGE_THREAD` of getrusage(2), which Swift does not import.
    private static let currentThread = __rusage_who_t(1)

    /// The number of times that the calling thread has waited for something other than a processor. How long a poll took
    /// does not show whether it waited, because on a busy machine the thread may have been ready and not running.
    static func waits() -> Int {
        var usage = rusage()
        return unsafe getrusage(currentThread, &usage) == 0 ? usage.ru_nvcsw : 0
    }

    /// Notes a poll that began and returned at these times, with this many requests.
    ///
    /// - Parameter waited: Whether the thread waited in it.
    mutating func note(_ requests: Int, from begin: UInt64, to end: UInt64, waited: Bool) {
        if waited { since = begin }
        guard requests > 0 else { return }
        polls.append(Poll(time: end, since: since, requests: UInt32(requests)))
    }

    /// Writes one line for each poll that returned requests. The file is replaced when everything is written. On failure it
    /// is not changed, and the cause is returned.
    func write(toCSV path: String) -> String? {
        do throws(OutputFileError) {
            let file = try OutputFile(path, Self.file, readers: .everybody)
            var text = Self.header
            for poll in polls {
                text += "\(poll.time),\(poll.since),\(poll.requests)\n"
                if text.utf8.count > 60_000 {
                    try file.write(Array(text.utf8))
                    text = ""
                }
            }
            try file.write(Array(text.utf8))
            try file.finish()
            return nil
        } catch {
            return error.description
        }
    }
}
