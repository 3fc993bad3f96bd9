/// Text that comes from a peer or from a file name, in a form that cannot do harm where it is shown: on one line, without characters
/// that move a cursor or change the direction of what follows.
enum Printable {
    static func text(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isHarmless($0) ? $0 : "\u{FFFD}" }))
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
        default: true
        }
    }
}
