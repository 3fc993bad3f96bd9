import APNSBatchSimulator

/// The answers that a test has given for one device token.
struct TokenAnswers {
    /// Those for a number of requests, in the order in which they are used.
    private var limited: [(answer: ChosenAnswer, left: Int)] = []
    /// The one for all requests after those.
    private var standing: ChosenAnswer?

    /// - Parameter times: The number of requests, at least 1; nil for all.
    mutating func add(_ answer: ChosenAnswer, times: Int?) {
        if let times { limited.append((answer, times)) } else { standing = answer }
    }

    /// Returns the answer to the next request; nil for that of the configuration.
    mutating func next() -> ChosenAnswer? {
        guard let first = limited.first else { return standing }
        if first.left == 1 { limited.removeFirst() } else { limited[0].left -= 1 }
        return first.answer
    }
}
