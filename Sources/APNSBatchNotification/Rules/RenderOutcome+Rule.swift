extension RenderFailure {
    /// The rule that is broken.
    package var rule: Rule {
        switch cause {
        case .notNumber, .notBool: .columnValueType
        case .notJSON: .jsonSyntax
        }
    }
}

extension TemplateError {
    /// The rule that is broken.
    package var rule: Rule {
        if case .json = cause { return .jsonSyntax }
        return .template
    }
}
