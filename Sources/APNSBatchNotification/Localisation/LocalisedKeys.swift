/// The keys of localised texts in a payload's alert, with the numbers of their arguments.
package struct LocalisedKeys: Equatable, Sendable {
    /// A `loc-key` with the number of its arguments.
    package struct Entry: Equatable, Sendable {
        /// For example `title-loc-key`.
        package let name: String
        package let key: String
        /// The number of elements in the array of arguments; 0 if there is none.
        package let arguments: Int
    }

    package private(set) var entries: [Entry] = []

    static let pairs = [
        ("title-loc-key", "title-loc-args"), ("subtitle-loc-key", "subtitle-loc-args"), ("loc-key", "loc-args"),
    ]

    /// Reads the keys from a rendered payload. There are none if the alert is missing or a string.
    package init(_ payload: UnsafeRawBufferPointer) {
        var reader = unsafe AlertReader(payload)
        reader.read()
        for (name, arguments) in Self.pairs {
            guard let key = reader.texts[name] else { continue }
            entries.append(Entry(name: name, key: key, arguments: reader.counts[arguments] ?? 0))
        }
    }
}

/// Collects the members of `aps.alert` of a payload.
private struct AlertReader {
    private var scanner: JSONScanner
    /// The members that are strings.
    private(set) var texts: [String: String] = [:]
    /// The members that are arrays, with their numbers of elements.
    private(set) var counts: [String: Int] = [:]

    init(_ payload: UnsafeRawBufferPointer) { scanner = unsafe JSONScanner(payload, top: .object) }

    mutating func read() {
        guard scanner.next() == .objectStart else { return }
        enter("aps") { reader in
            reader.enter("alert") { $0.readAlert() }
        }
    }

    /// Enters the object that is the member of this name in the current object, and skips all other members.
    private mutating func enter(_ name: String, _ body: (inout AlertReader) -> Void) {
        while scanner.next() == .key {
            let isIt = scanner.text == name
            let token = scanner.next()
            if isIt && token == .objectStart { body(&self) } else { scanner.finish(token) }
        }
    }

    private mutating func readAlert() {
        while scanner.next() == .key {
            let name = scanner.text
            switch scanner.next() {
            case .string: texts[name] = scanner.text
            case .arrayStart: counts[name] = countElements()
            case let token: scanner.finish(token)
            }
        }
    }

    private mutating func countElements() -> Int {
        var count = 0
        while true {
            let token = scanner.next()
            if token == .arrayEnd || token == .fault || token == .end { return count }
            count += 1
            scanner.finish(token)
        }
    }
}
