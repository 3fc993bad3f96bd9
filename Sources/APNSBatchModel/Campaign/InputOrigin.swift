/// Where the bytes of an input come from that is neither a file nor the output of a program, such as a query of a database.
///
/// A run reads it to its end before the first push, and keeps its bytes, unless it is configured not to: what cannot be read to its end has
/// sent nothing.
public protocol InputOrigin: Equatable, Sendable {
    /// The name of the input in messages and in the ledger.
    var name: String { get }

    /// How CSV of this input escapes quotes; nil for ``Campaign/escape``, which is the default.
    var escape: Campaign.Escape? { get }

    /// Opens the input at its beginning. It is called once for each reading, on a thread that may wait.
    ///
    /// - Throws: Any error. Its description becomes that of the error of the run.
    func open() throws -> any InputBytes
}

/// The bytes of an open input, in the same formats as those of a file.
public protocol InputBytes: AnyObject, Sendable {
    /// Returns the next bytes, at least one, and waits for them; nil at the end of a whole input. One thread at a time calls it.
    ///
    /// - Throws: Any error. The input has failed then, and is not read further.
    func next() throws -> [UInt8]?

    /// Ends a call of ``next()`` that waits, now or later, which then throws an error. Any thread may call it.
    func cancel()
}

extension InputOrigin {
    /// Nil: ``Campaign/escape`` applies.
    public var escape: Campaign.Escape? { nil }

    func isEqual(to other: any InputOrigin) -> Bool { (other as? Self) == self }
}
