import APNSBatchBasics

/// Which file of an input a line is in. Files are entered when the reader comes to them.
package final class InputParts: Sendable {
    private struct Part {
        let name: String
        /// The first line of the input that is in the file, and the line of the file that it is.
        let first: UInt64
        let line: UInt64
    }

    private let parts = Guarded<[Part]>([])

    package init() {}

    /// - Parameters:
    ///   - first: The line of the input with which the file begins.
    ///   - line: The line of the file that it is.
    func begin(_ name: String, at first: UInt64, line: UInt64) {
        parts.withLock { $0.append(Part(name: name, first: first, line: line)) }
    }

    /// Returns the file that has a line of the input, and the line there; nil if no file was entered.
    package func place(ofLine line: UInt64) -> (file: String, line: UInt64)? {
        parts.withLock { parts in
            parts.last { $0.first <= line }.map { ($0.name, line - $0.first + $0.line) }
        }
    }

    /// Whether a file of this name was entered.
    package func has(_ name: String) -> Bool { parts.withLock { $0.contains { $0.name == name } } }
}
