/// A short text with `{{column}}` placeholders, for values that are not JSON, such as a collapse id.
///
/// The placeholders are those of ``PayloadTemplate``, of type text and never optional. An empty field is replaced by its
/// default, or by nothing.
package struct TextTemplate: Sendable {
    private enum Piece: Sendable {
        case text([UInt8])
        case column(Int, default: [UInt8])
    }

    private let pieces: [Piece]

    /// - Parameters:
    ///   - name: the name in error messages, instead of that of a file.
    package init(_ text: String, columns: [String], name: String) throws(TemplateError) {
        let string = TemplateString(text: text)
        do throws(TemplateStringParser.Fault) {
            pieces = try TemplateStringParser.pieces(of: string, columns: columns, isShown: true).map(Self.piece)
        } catch {
            throw TemplateError(file: name, line: 1, column: error.offset + 1, cause: error.cause)
        }
    }

    private static func piece(_ piece: TemplatePiece) throws(TemplateStringParser.Fault) -> Piece {
        switch piece {
        case .text(let text): return .text(text)
        case .placeholder(let placeholder):
            guard placeholder.type == .text, !placeholder.isOptional else {
                throw TemplateStringParser.Fault(cause: .typedInText(placeholder.type), offset: 0)
            }
            return .column(placeholder.column, default: placeholder.defaultText ?? [])
        }
    }

    package var columnsUsed: [Int] {
        pieces.compactMap { piece in if case .column(let column, _) = piece { column } else { nil } }
    }

    /// Whether the text is the same for every row.
    package var isConstant: Bool {
        pieces.allSatisfy { piece in if case .text = piece { true } else { false } }
    }

    /// Writes the text of a row and returns its length in bytes. It writes nothing beyond `output`: if the length is
    /// greater, the text did not fit.
    package func render(
        fields: UnsafeBufferPointer<UnsafeRawBufferPointer>, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        var size = 0
        for piece in pieces {
            switch piece {
            case .text(let text): unsafe text.withUnsafeBytes { unsafe Self.add($0, to: output, &size) }
            case .column(let column, let text) where unsafe fields[column].isEmpty:
                unsafe text.withUnsafeBytes { unsafe Self.add($0, to: output, &size) }
            case .column(let column, _): unsafe Self.add(fields[column], to: output, &size)
            }
        }
        return size
    }

    private static func add(_ text: UnsafeRawBufferPointer, to output: UnsafeMutableRawBufferPointer, _ size: inout Int)
    {
        if let source = text.baseAddress, size + text.count <= output.count {
            unsafe (output.baseAddress.unsafelyUnwrapped + size).copyMemory(from: source, byteCount: text.count)
        }
        size += text.count
    }
}
