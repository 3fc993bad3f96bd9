/// Selects one of several templates for a row: by language, or by name.
package struct TemplateNames: Sendable {
    /// How a row's value is matched with a template.
    package enum Matching: Sendable {
        /// By language tag, with lookup (RFC 4647 section 3.4): `zh-Hant-TW` selects `zh-Hant-TW`, else `zh-Hant`, else
        /// `zh`. Case is ignored, and `_` is read as `-`.
        case language
        /// By name, byte by byte.
        case name
    }

    /// The names, in the order of the templates.
    package let names: [String]
    private let keys: [[UInt8]]
    private let matching: Matching
    /// The index of the template for rows whose value is empty or matches none.
    package let fallback: Int?

    package init(_ names: [String], matching: Matching, fallback: Int?) {
        self.names = names
        self.matching = matching
        self.fallback = fallback
        keys = names.map { matching == .language ? Self.canonical(Array($0.utf8)) : Array($0.utf8) }
    }

    /// Two names that match the same values; nil if there are none.
    package var alike: (String, String)? {
        for (index, key) in keys.enumerated() {
            if let other = keys[..<index].firstIndex(of: key) { return (names[other], names[index]) }
        }
        return nil
    }

    /// Returns the index of the template for a value; nil if there is none.
    package func find(_ value: UnsafeRawBufferPointer) -> Int? {
        if unsafe value.isEmpty { return fallback }
        switch matching {
        case .name: return keys.firstIndex { unsafe $0.elementsEqual(value) } ?? fallback
        case .language: return unsafe lookUp(Self.canonical(value)) ?? fallback
        }
    }

    /// Looks up ever shorter tags: each step removes the last subtag, and a subtag of one letter before it.
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
