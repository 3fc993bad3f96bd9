/// How much of a file was its input when it was opened first.
package struct InputExtent: Sendable, Equatable {
    package var bytes: UInt64
    /// The last record ends there, as was decided when it was read first, even if more stands behind it by now.
    package var endsWhole: Bool

    package init(bytes: UInt64, endsWhole: Bool) {
        self.bytes = bytes
        self.endsWhole = endsWhole
    }
}

/// What somebody added to a file while it was read, or since.
package struct InputAddition: Sendable, Equatable {
    package var bytes: UInt64
    /// A line that was half written when the file was opened, and was left out; nil if there was none.
    package var lineCut: UInt64?
}
