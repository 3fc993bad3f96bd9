/// What is known of an input before its first row is read.
package struct InputFacts: Sendable {
    /// The name of the input in messages.
    package let name: String
    /// Whether the input is a file, so that its size is known and another process can open it.
    package let isFile: Bool
    /// The names of the columns, in order.
    package let columns: [String]
}
