/// Where the bytes come from.
package enum CSVInput: Sendable, Equatable {
    /// A path: a regular file, a FIFO or a device. It is opened by the reader and closed with it.
    case file(String)

    /// A descriptor that stays the caller's: it is neither closed nor are its flags changed.
    case descriptor(Int32)

    /// Descriptor 0.
    package static let standardInput = CSVInput.descriptor(0)
}
