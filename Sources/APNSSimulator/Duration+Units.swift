extension Duration {
    /// The longest time that a test may ask for, in milliseconds.
    private static let longest = 3_600_000

    /// Returns the time in nanoseconds.
    ///
    /// - Parameters:
    ///   - name: The name of the value in errors.
    ///   - minimum: In milliseconds.
    /// - Throws: An error of the code `configuration` if it is less than the minimum or more than an hour.
    func nanoseconds(_ name: String, from minimum: Int) throws(SimulatorError) -> UInt64 {
        guard self >= .milliseconds(minimum), self <= .milliseconds(Self.longest) else {
            let found = Double(components.seconds) * 1000 + Double(components.attoseconds) / 1e15
            throw .configuration("\(name): expected \(minimum) to \(Self.longest) milliseconds, found \(found)")
        }
        return UInt64(components.seconds) * 1_000_000_000 + UInt64(components.attoseconds / 1_000_000_000)
    }

    /// Returns the time in whole milliseconds, like ``nanoseconds(_:from:)``.
    func milliseconds(_ name: String, from minimum: Int = 1) throws(SimulatorError) -> Int {
        Int(try nanoseconds(name, from: minimum) / 1_000_000)
    }
}
