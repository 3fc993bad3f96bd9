extension Campaign.Input {
    /// Whether the input has a path, by which another process can open it.
    package var isFile: Bool { if case .file = self { true } else { false } }

    /// The name of the input in errors.
    package var name: String {
        switch self {
        case .file(let path): path
        case .standardInput: "<stdin>"
        }
    }
}
