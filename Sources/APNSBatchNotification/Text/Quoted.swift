import Glibc

/// A row's value as it may stand in a message: in quotes, at most 40 bytes of it, control characters and what is no
/// UTF-8 replaced.
package struct Quoted: CustomStringConvertible {
    static let lengthMax = 40

    package let description: String

    package init(_ text: some Collection<UInt8>) {
        let isCut = text.count > Self.lengthMax
        var shown = Self.clean(String(decoding: text.prefix(Self.lengthMax), as: UTF8.self))
        // A character cut in two shows as a replacement character at the end.
        while isCut, shown.last == "\u{FFFD}" { shown.removeLast() }
        description = "\"\(shown)\(isCut ? "…" : "")\""
    }

    /// The one character that begins at an offset.
    init(_ text: some Collection<UInt8>, at offset: Int) {
        let rest = String(decoding: text.dropFirst(offset).prefix(4), as: UTF8.self)
        description = "\"\(Self.clean(String(rest.prefix(1))))\""
    }

    static func clean(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
            result.unicodeScalars.append(isControl ? "\u{FFFD}" : scalar)
        }
        return result
    }
}

/// Names of columns as a message may list them. A file without a header row has a row's fields for names: what is long,
/// such as a device token, is shortened.
package enum ColumnNames {
    private static let listed = 20

    package static func quoted(_ name: String) -> String {
        let shown = Quoted.clean(name)
        return shown.count > 32 ? "\"\(shown.prefix(12))…\"" : "\"\(shown)\""
    }

    /// In quotes, with commas between them.
    package static func list(_ names: some Collection<String>) -> String {
        names.prefix(listed).map(quoted).joined(separator: ", ") + (names.count > listed ? ", …" : "")
    }
}

extension String {
    /// Whether the text's UTF-8 is exactly these bytes. No allocation; lengths are compared first.
    func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard utf8.count == bytes.count else { return false }
        guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else { return true }
        return unsafe utf8.withContiguousStorageIfAvailable { unsafe memcmp($0.baseAddress!, start, bytes.count) == 0 }
            ?? false
    }
}
