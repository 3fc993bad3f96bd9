/// The rows that have the device token of another row, so that one device gets more than one push.
public struct DuplicateTokens: Sendable, Codable, Equatable {
    /// The number of rows whose token an earlier row has; an estimate if ``sampledOneIn`` is more than 1.
    public var rows: UInt64
    /// 1 if every token was compared; otherwise one of this number of tokens was compared, since memory is bounded.
    public var sampledOneIn: UInt64
    /// The numbers of the first two rows with the same token, for at most three pairs of rows.
    public var examples: [[UInt64]]

    package init(rows: UInt64, sampledOneIn: UInt64, examples: [[UInt64]]) {
        (self.rows, self.sampledOneIn, self.examples) = (rows, sampledOneIn, examples)
    }

    /// Whether the number is an estimate from a sample.
    public var isEstimate: Bool { sampledOneIn > 1 }

    /// A sentence without a full stop.
    public var description: String {
        let found = examples.map { "\($0[0]) and \($0[1])" }.joined(separator: ", ")
        let start =
            isEstimate
            ? "about \(rows) rows have the token of another row (an estimate from one token in \(sampledOneIn)): rows "
            : rows == 1
                ? "a row has the token of another row: rows " : "\(rows) rows have the token of another row: rows "
        return start + found + (rows > UInt64(examples.count) ? ", …" : "")
    }

    enum CodingKeys: String, CodingKey {
        case rows, examples
        case sampledOneIn = "sampled_one_in"
    }
}

/// The rows whose device token is not 32 bytes long, the length that all tokens have today. They were sent.
public struct UnusualTokens: Sendable, Codable, Equatable {
    /// The number of these rows.
    public var rows: UInt64
    /// The numbers of the first of these rows, at most three.
    public var examples: [UInt64]

    /// A sentence without a full stop.
    public var description: String {
        let found = examples.map(String.init).joined(separator: ", ") + (rows > UInt64(examples.count) ? ", …" : "")
        return rows == 1
            ? "a token has a size other than 32 bytes: row \(found)"
            : "\(rows) tokens have a size other than 32 bytes: rows \(found)"
    }
}
