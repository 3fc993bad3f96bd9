import APNSBatchBasics

/// Lines of at most 80 columns, for mail. What is added becomes printable.
struct TextLines {
    static let width = 80
    private(set) var lines: [String] = []

    var text: String { lines.map { $0 + "\n" }.joined() }

    /// Adds a line, which is cut if it is too long.
    mutating func add(_ line: String = "") { lines.append(Self.cut(line, Self.width)) }

    mutating func addTitle(_ title: String) {
        add()
        add(title)
        add(String(repeating: "-", count: title.count))
    }

    /// Adds a paragraph, wrapped at spaces. What has no spaces is broken anywhere.
    mutating func addParagraph(_ text: String, indent: Int = 0, first: String? = nil) {
        let space = String(repeating: " ", count: indent)
        var line = first ?? space
        var isEmpty = true
        for word in Printable.text(text).split(separator: " ").flatMap({ Self.pieces($0, Self.width - indent) }) {
            if !isEmpty, line.count + 1 + word.count > Self.width {
                add(line)
                (line, isEmpty) = (space, true)
            }
            line += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        if !isEmpty { add(line) }
    }

    /// Adds a command, which is never broken, because it is copied. It may therefore be longer than a line.
    mutating func addCommand(_ command: String) { lines.append("     $ " + Printable.text(command)) }

    private static func pieces(_ word: Substring, _ width: Int) -> [Substring] {
        guard word.count > width else { return [word] }
        return [word.prefix(width)] + pieces(word.dropFirst(width), width)
    }

    static func cut(_ text: String, _ width: Int) -> String {
        let text = Printable.text(text)
        return text.count > width ? text.prefix(width - 1) + "…" : text
    }

    /// Fills a text up with spaces, or cuts it.
    static func left(_ text: String, _ width: Int) -> String {
        let shown = cut(text, width)
        return shown + String(repeating: " ", count: width - shown.count)
    }

    static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
