/// The number of rows of the input that no session of the run has read so far.
@nonexhaustive
public enum UnreadRows: Sendable, Equatable {
    /// An exact number: the input was read to its end, or its records were counted.
    case counted(UInt64)
    /// An estimate from the number of bytes that are left.
    case estimated(UInt64)
    /// No number: the input's size is not known, or nothing of it was read.
    case unknown

    /// The number, counted or estimated.
    public var rows: UInt64? {
        switch self {
        case .counted(let rows), .estimated(let rows): rows
        case .unknown: nil
        }
    }

    /// Whether the number is an estimate.
    public var isEstimate: Bool { if case .estimated = self { true } else { false } }

    /// Estimates the number of unread rows from the mean length of the rows that were read.
    package static func estimate(rowsRead: UInt64, bytesRead: UInt64, bytesTotal: UInt64?) -> UnreadRows {
        guard let bytesTotal else { return .unknown }
        if bytesRead >= bytesTotal { return .counted(0) }
        guard rowsRead > 0, bytesRead > 0 else { return .unknown }
        let rowsPerByte = Double(rowsRead) / Double(bytesRead)
        return .estimated(UInt64((Double(bytesTotal - bytesRead) * rowsPerByte).rounded()))
    }
}
