import Testing

/// Bytes under a name, so that a test's argument is printed by name and no key ends up in a test log.
struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]

    init(_ name: String, _ bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    var testDescription: String { name }
}
