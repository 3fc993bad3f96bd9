extension Campaign.Input {
    /// Whether it can be found again: standard input cannot, even where it is a file.
    package var isFile: Bool { if case .file = self { true } else { false } }

    /// What errors call the input.
    package var name: String {
        switch self {
        case .file(let path): path
        case .standardInput: "<stdin>"
        }
    }
}
