import APNSBatchNotification

/// A lane's way from a row's locale or variant to its template. Remembers the values seen, since there are few of them
/// and looking a language up takes some steps.
struct TemplatePicker: ~Copyable {
    private let choice: TemplateChoice
    private var seen: [Entry] = Array(repeating: Entry(), count: places)

    private struct Entry {
        var value: [UInt8] = []
        var template = -1
    }

    private static let places = 64
    /// Longer values are looked up each time; no language tag in use comes near.
    private static let lengthMax = 64

    init(_ choice: TemplateChoice) { self.choice = choice }

    /// The number of the row's template; nil when its value finds none.
    mutating func pick(_ fields: UnsafeBufferPointer<UnsafeRawBufferPointer>) -> Int? {
        guard let column = choice.column, let names = choice.names else { return 0 }
        let value = fields[column]
        guard !value.isEmpty, value.count <= Self.lengthMax else { return names.find(value) }
        let place = Self.place(of: value)
        if seen[place].template >= 0, seen[place].value.elementsEqual(value) { return seen[place].template }
        guard let found = names.find(value) else { return nil }
        seen[place] = Entry(value: Array(value), template: found)
        return found
    }

    private static func place(of value: UnsafeRawBufferPointer) -> Int {
        var hash = UInt32(truncatingIfNeeded: value.count)
        for byte in value { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int((hash >> 16 ^ hash) % UInt32(places))
    }
}
