/// The keys of localised texts in a payload's alert, with the numbers of their arguments.
package struct LocalisedKeys: Equatable, Sendable {
    /// One `loc-key`.
    package struct Entry: Equatable, Sendable {
        /// Such as `title-loc-key`.
        package let name: String
        package let key: String
        /// Elements of the array of arguments beside it; 0 without one.
        package let arguments: Int
    }

    package private(set) var entries: [Entry] = []

    static let pairs = [
        ("title-loc-key", "title-loc-args"), ("subtitle-loc-key", "subtitle-loc-args"), ("loc-key", "loc-args"),
    ]

    /// Reads them out of a rendered payload; none where there is no alert, or it is a string.
    package init(_ payload: UnsafeRawBufferPointer) {
        var reader = unsafe AlertReader(payload)
        reader.read()
        for (name, arguments) in Self.pairs {
            guard let key = reader.texts[name] else { continue }
            entries.append(Entry(name: name, key: key, arguments: reader.counts[arguments] ?? 0))
        }
    }
}

/// Walks a payload and notes the members of `aps.alert`.
private struct AlertReader {
    private var scanner: JSONScanner
    /// Members that are strings.
    private(set) var texts: [String: String] = [:]
    /// Members that are arrays: how many elements they have.
    private(set) var counts: [String: Int] = [:]

    init(_ payload: UnsafeRawBufferPointer) { scanner = unsafe JSONScanner(payload, top: .object) }

    mutating func read() {
        guard scanner.next() == .objectStart else { return }
        enter("aps") { reader in
            reader.enter("alert") { $0.readAlert() }
        }
    }

    /// The object of the member of this name, in the object that the scanner is in; the others are passed over.
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
