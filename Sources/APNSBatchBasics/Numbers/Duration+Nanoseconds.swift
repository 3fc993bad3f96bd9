extension Duration {
    /// The time in nanoseconds: 0 if it is negative, and at most a century.
    package var nanoseconds: UInt64 {
        let (seconds, attoseconds) = min(max(.zero, self), .seconds(100 * 366 * 86_400)).components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
    }

    /// The whole milliseconds of ``nanoseconds``.
    package var milliseconds: UInt64 { nanoseconds / 1_000_000 }

    /// The whole seconds of ``nanoseconds``.
    package var seconds: UInt64 { nanoseconds / 1_000_000_000 }
}
