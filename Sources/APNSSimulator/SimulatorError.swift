import APNSBatchBasics
import APNSBatchSimulator

/// Why a simulator could not do what it was asked.
public struct SimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error.
    @nonexhaustive
    public enum Code: Sendable, Hashable {
        /// A value of the test is wrong.
        case configuration
        /// The system denied a thread, memory, a descriptor or a port.
        case system
        /// The simulator has ended.
        case ended
    }

    /// What kind of failure it is.
    public let code: Code
    /// What was expected and what was found, for people.
    public let description: String

    init(_ code: Code, _ description: String) {
        (self.code, self.description) = (code, Printable.message(description))
    }

    static func configuration(_ text: String) -> SimulatorError { SimulatorError(.configuration, text) }
}

extension SimulatorError {
    /// An error of the server.
    init(_ error: APNSBatchSimulator.SimulatorError) {
        switch error {
        case .script, .configuration: self.init(.configuration, "\(error)")
        case .transport, .system, .alreadyStarted: self.init(.system, "\(error)")
        }
    }
}
