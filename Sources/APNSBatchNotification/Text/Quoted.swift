import APNSBatchBasics
import Glibc

/// A row's value in a form suitable for messages: in quotes, at most 40 bytes of it. Invalid UTF-8 is replaced.
package struct Quoted: CustomStringConvertible {
    static let lengthMax = 40

    package let description: String

    package init(_ text: some Collection<UInt8>) {
        let isCut = text.count > Self.lengthMax
        var shown = Printable.visible(String(decoding: text.prefix(Self.lengthMax), as: UTF8.self))
        // A character that was cut appears as a replacement character at the end.
        while isCut, shown.last == "\u{FFFD}" { shown.removeLast() }
        description = "\"\(shown)\(isCut ? "…" : "")\""
    }

    /// Quotes the single character that begins at an offset.
    init(_ text: some Collection<UInt8>, at offset: Int) {
        let rest = String(decoding: text.dropFirst(offset).prefix(4), as: UTF8.self)
        description = String(rest.prefix(1)).quoted
    }
}

/// The names of columns, in a form suitable for messages. Long names, such as device tokens, are cut: if a file lacks its
/// header row, the fields of its first row are taken for names.
package enum ColumnNames {
    private static let listed = 20

    package static func quoted(_ name: String) -> String {
        // Cut before what cannot be seen is shown, so that no escape is cut in two.
        name.count > 32 ? "\"" + Printable.visible(String(name.prefix(12))) + "…\"" : name.quoted
    }

    /// Returns the names in quotes, separated by commas.
    package static func list(_ names: some Collection<String>) -> String {
        names.prefix(listed).map(quoted).joined(separator: ", ") + (names.count > listed ? ", …" : "")
    }
}

extension String {
    /// Whether the string's UTF-8 is exactly these bytes. It does not allocate, and compares lengths first.
    func hasBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard utf8.count == bytes.count else { return false }
        guard let start = bytes.baseAddress, unsafe !bytes.isEmpty else { return true }
        return unsafe utf8.withContiguousStorageIfAvailable { unsafe memcmp($0.baseAddress!, start, bytes.count) == 0 }
            ?? false
    }
}
