import APNSBatchRows

/// The reading of an input, to its end and before the first push, into a file of the run directory. It is done for inputs that can be
/// read only once, so that the run can be resumed, and so that nothing is sent of an input whose producer fails.
public final class InputSpooling: Sendable {
    /// The name of the input, such as `<stdin>`.
    public let input: String
    /// The path of the file, which only its owner may read. It has the unpacked input as zstd frames, with a table of where each
    /// begins.
    public let path: String
    private let copy: InputCopy

    init(_ copy: InputCopy, of input: String, to path: String) {
        (self.copy, self.input, self.path) = (copy, input, path)
    }

    /// The number of bytes that were read, unpacked.
    public var bytesRead: UInt64 { copy.bytesRead }

    /// Ends the reading. The initializer of the run throws an error with the code ``CampaignError/Code/input``, and the file is removed. May be
    /// called from any thread.
    public func cancel() { copy.cancel() }
}
