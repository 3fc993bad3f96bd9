/// Why a simulator could not be made or started.
package enum SimulatorError: Error, Equatable, CustomStringConvertible {
    /// A value of the script is wrong: `rules[2].share: …`.
    case script(String)
    /// A value of the configuration is wrong.
    case configuration(String)
    /// The certificate or the address could not be used.
    case transport(String)
    /// The machine refused something: a thread, memory, descriptors.
    case system(String)
    /// `start` was called a second time.
    case alreadyStarted

    package var description: String {
        switch self {
        case .script(let text): "script: \(text)"
        case .configuration(let text): text
        case .transport(let text), .system(let text): text
        case .alreadyStarted: "the simulator was started before"
        }
    }
}
