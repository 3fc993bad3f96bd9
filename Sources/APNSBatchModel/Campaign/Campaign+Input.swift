extension Campaign.Input {
    /// Whether the input can be read again by a resumed run. Standard input cannot, even if it is redirected from a file.
    package var isFile: Bool { if case .file = self { true } else { false } }

    /// The name of the input in errors.
    package var name: String {
        switch self {
        case .file(let path): path
        case .standardInput: "<stdin>"
        }
    }
}
