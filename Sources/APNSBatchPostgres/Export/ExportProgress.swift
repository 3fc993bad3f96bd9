/// How far the results of a run were written into a table.
public struct ExportProgress: Sendable, Equatable {
    /// The number of results that the run has recorded so far, as far as they are durable.
    public var recorded: UInt64 = 0
    /// The number of these that are in the table.
    public var written: UInt64 = 0

    /// The number of results that this export or follower wrote: those that were not in the table, or were there with other values.
    public var added: UInt64 = 0

    /// The number of results that are not in the table.
    public var left: UInt64 { recorded > written ? recorded - written : 0 }
}
