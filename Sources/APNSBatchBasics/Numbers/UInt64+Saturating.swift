extension UInt64 {
    /// The nearest whole number: 0 below 0 and for what is no number, and the largest one above that. A figure that was read from a file can
    /// be any number.
    package init(saturating value: Double) {
        let whole = value.rounded()
        self = whole >= 0 ? UInt64(exactly: whole) ?? .max : 0
    }
}
