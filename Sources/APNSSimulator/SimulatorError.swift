/// Why a simulator could not be made or started.
package enum SimulatorError: Error, Equatable, CustomStringConvertible {
    /// A value of the script is wrong: `rules[2].share: …`.
    case script(String)
    /// A value of the configuration is wrong.
    case configuration(String)
    /// The loop, the certificate or the address could not be used.
    case transport(String)
    /// `start` was called a second time.
    case alreadyStarted

    package var description: String {
        switch self {
        case .script(let text): "script: \(text)"
        case .configuration(let text): text
        case .transport(let text): text
        case .alreadyStarted: "the simulator was started before"
        }
    }
}
