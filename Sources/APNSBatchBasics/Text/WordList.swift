/// Words in a message.
package enum WordList {
    /// `a, b or c`.
    package static func text(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    /// `; did you mean production?`, or nothing if no word is near.
    package static func hint(_ word: String, in known: [String]) -> String {
        let near = NearestName.all(word, in: known).prefix(3)
        return near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))?"
    }

    /// `expected production or sandbox, found "prodution"; did you mean production?`.
    ///
    /// - Parameter form: What is expected; nil for one of the words.
    package static func refusal(of text: String, expecting form: String? = nil, _ words: [String]) -> String {
        "expected \(form ?? Self.text(words)), found \(text.quoted)\(hint(text, in: words))"
    }
}
