/// How much of a file belongs to the input, as decided when it was first opened.
package struct InputExtent: Sendable, Equatable {
    package var bytes: UInt64
    /// Whether the last record ends there, as decided when it was first read, even if more bytes follow by now.
    package var endsWhole: Bool

    package init(bytes: UInt64, endsWhole: Bool) {
        self.bytes = bytes
        self.endsWhole = endsWhole
    }
}

/// Bytes that were added to a file while it was read, or since.
package struct InputAddition: Sendable, Equatable {
    package var bytes: UInt64
    /// The line that was incomplete when the file was opened, and was left out; nil if there was none.
    package var lineCut: UInt64?
}
