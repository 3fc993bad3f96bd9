/// The identifiers that Apple assigns to signing keys and teams.
package enum AppleIdentifier {
    /// Whether the text consists of ten capital letters and digits, as all identifiers do so far. (A regular expression
    /// would take a tenth of the time in which a run starts.)
    package static func isWellFormed(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { $0.isDigit || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
    }
}
