/// Which of several templates a row gets: by language, or by a name.
package struct TemplateNames: Sendable {
    /// How a row's value finds its template.
    package enum Matching: Sendable {
        /// A language tag, by lookup (RFC 4647 section 3.4): `zh-Hant-TW` takes `zh-Hant-TW`, else `zh-Hant`, else `zh`.
        /// Letter case means nothing, and `_` is read as `-`.
        case language
        /// The name itself, byte by byte.
        case name
    }

    /// The names, in the order of the templates.
    package let names: [String]
    private let keys: [[UInt8]]
    private let matching: Matching
    /// The template of rows whose value is empty or finds none.
    package let fallback: Int?

    package init(_ names: [String], matching: Matching, fallback: Int?) {
        self.names = names
        self.matching = matching
        self.fallback = fallback
        keys = names.map { matching == .language ? Self.canonical(Array($0.utf8)) : Array($0.utf8) }
    }

    /// Two names that no row can tell apart; nil when there are none.
    package var alike: (String, String)? {
        for (index, key) in keys.enumerated() {
            if let other = keys[..<index].firstIndex(of: key) { return (names[other], names[index]) }
        }
        return nil
    }

    /// The number of the template for a value; nil when there is none.
    package func find(_ value: UnsafeRawBufferPointer) -> Int? {
        if unsafe value.isEmpty { return fallback }
        switch matching {
        case .name: return keys.firstIndex { unsafe $0.elementsEqual(value) } ?? fallback
        case .language: return unsafe lookUp(Self.canonical(value)) ?? fallback
        }
    }

    /// Shorter and shorter: each step takes a subtag from the end, and a subtag of one letter with it.
    private func lookUp(_ tag: [UInt8]) -> Int? {
        var range = tag[...]
        while !range.isEmpty {
            if let found = keys.firstIndex(where: { $0.elementsEqual(range) }) { return found }
            guard let dash = range.lastIndex(of: UInt8(ascii: "-")) else { return nil }
            range = range[..<dash]
            let last = range.lastIndex(of: UInt8(ascii: "-"))
            if let last, range.endIndex - last == 2 { range = range[..<last] }
        }
        return nil
    }

    private static func canonical(_ tag: some Sequence<UInt8>) -> [UInt8] {
        tag.map { byte in
            switch byte {
            case UInt8(ascii: "_"): UInt8(ascii: "-")
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
            default: byte
            }
        }
    }
}
