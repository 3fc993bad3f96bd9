/// A line of blocks whose heights are values, such as `▂▃▅▇█▆`.
enum Sparkline {
    private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    /// For terminals without UTF-8.
    private static let signs: [Character] = ["_", ".", ":", "-", "=", "+", "*", "#"]

    /// Returns a character for each value; nil becomes a space, and the greatest value the highest block.
    static func text(_ values: [Double?], isUTF8: Bool) -> String {
        let marks = isUTF8 ? blocks : signs
        let most = values.compactMap { $0 }.max() ?? 0
        return String(
            values.map { value in
                guard let value else { return " " }
                guard most > 0 else { return marks[0] }
                return marks[min(marks.count - 1, max(0, Int(value / most * Double(marks.count))))]
            })
    }
}
