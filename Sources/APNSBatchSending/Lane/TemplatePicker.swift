import APNSBatchNotification

/// A lane's way from a row's locale or variant to its template. Remembers the values seen, since there are few of them
/// and looking a language up takes some steps.
struct TemplatePicker: ~Copyable {
    private let choice: TemplateChoice
    private var seen = SeenValues(limit: 64)
    /// By number of the value.
    private var templates: [Int] = []

    init(_ choice: TemplateChoice) { self.choice = choice }

    /// The number of the row's template; nil when its value finds none.
    mutating func pick(_ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Int? {
        guard let column = choice.column, let names = choice.names else { return 0 }
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        let value = (fields[column], none, none)
        if let number = seen.find(value) { return templates[number] }
        guard let found = names.find(fields[column]) else { return nil }
        if !seen.isFull {
            seen.add(value)
            templates.append(found)
        }
        return found
    }
}
