import APNSBatchBasics

/// The times at which requests were received. A time is that of the poll which returned the request; the request arrived
/// between the previous poll and this one.
struct ArrivalLog {
    /// The requests that one poll returned.
    private struct Poll {
        /// The times of this poll and of the previous one, in nanoseconds of the monotonic clock.
        var time: UInt64
        var previous: UInt64
        var requests: UInt32
    }

    private var polls: [Poll] = []
    private var previous: UInt64 = 0

    private static let header = "monotonic_ns,since_ns,requests\n"
    static let file = OutputFile.Kind("the arrivals at a simulator", startingWith: header)

    /// Notes a poll that returned at a time, with so many requests.
    mutating func note(_ requests: Int, at time: UInt64) {
        defer { previous = time }
        guard requests > 0 else { return }
        polls.append(Poll(time: time, previous: previous == 0 ? time : previous, requests: UInt32(requests)))
    }

    /// Writes one line for each poll that returned requests. The file is replaced when everything is written. On failure it
    /// is not changed, and the cause is returned.
    func write(toCSV path: String) -> String? {
        do throws(OutputFileError) {
            let file = try OutputFile(path, Self.file, readers: .everybody)
            var text = Self.header
            for poll in polls {
                text += "\(poll.time),\(poll.previous),\(poll.requests)\n"
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
