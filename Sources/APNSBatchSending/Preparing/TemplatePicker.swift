/// Finds the template of a row by its locale or variant. Remembers the values that were seen, since there are few of them
/// and the look-up of a language takes several steps.
struct TemplatePicker: ~Copyable {
    private let choice: TemplateChoice
    private var seen = SeenValues(limit: 64)
    /// Template numbers, by the number of the value in `seen`.
    private var templates: [Int] = []

    init(_ choice: TemplateChoice) { self.choice = choice }

    /// Returns the number of the row's template, or nil if there is none for its value.
    mutating func pick(_ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Int? {
        guard let column = choice.column, let names = choice.names else { return 0 }
        let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        let value = unsafe (fields[column], none, none)
        if let number = unsafe seen.find(value) { return templates[number] }
        guard let found = unsafe names.find(fields[column]) else { return nil }
        if !seen.isFull {
            unsafe seen.add(value)
            templates.append(found)
        }
        return found
    }
}
