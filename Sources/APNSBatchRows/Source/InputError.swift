import APNSBatchBasics
import Glibc

/// Why the input cannot be read, or not beyond some point. Bad rows are not errors of this type: see `RowError`.
package enum InputError: SystemFailure, Equatable, Sendable {
    /// The path cannot be opened for reading.
    case cannotOpen(path: String, errno: Int32)

    /// Reading failed. All complete rows before the failure have been delivered.
    case cannotRead(errno: Int32)

    /// The input cannot be unpacked at a byte, counted from its start as it is stored. All complete rows before have been delivered.
    case cannotUnpack(Packing, PackingFault, at: UInt64)

    /// The input does not consist of rows in UTF-8.
    case foreign(ForeignFormat)

    /// There is no header row: the input is empty, or contains only blank lines.
    case noHeader

    /// The header row is malformed.
    case badHeader(RowError)

    /// How quotes are escaped is in doubt. The place is that of the backslash: the 1-based physical line, and the 1-based column in bytes.
    case quoting(QuotingDoubt, line: UInt64, column: Int)

    /// A column has no name. `index` is 0-based.
    case emptyColumnName(index: Int)

    /// Two columns share a name, compared byte by byte. Indices are 0-based.
    case duplicateColumnName(String, first: Int, second: Int)

    /// The file became shorter while it was read, or it grew and what was read ends in the middle of a line. All complete
    /// rows have been delivered; the incomplete line has not.
    case changedWhileRead(bytesAtOpen: UInt64, bytesRead: UInt64)

    /// Rows that were read before have changed. This error is thrown by callers that compare them.
    case changedRows(first: UInt64, last: UInt64)

    /// A row is not the one that an earlier process took in its place.
    case changedRow(UInt64)

    /// The byte at an offset is not the one that an earlier process took. `ChunkReader` throws `changedRow` instead.
    case changedBytes(at: UInt64)

    /// The rows cannot be kept for a later process, or those of an earlier one cannot be read.
    case cannotSpool(StorageError)

    /// One of several files cannot be read; the text names it.
    case inFile(String, String, mayPass: Bool)

    /// A file is given twice. The path is the one that was given first.
    case sameFile(String)

    /// The format of a file is not that of the first one.
    case otherFormat

    /// The header row of a file is not that of the first one.
    case otherHeader(String, found: String)

    /// The bytes cannot be packed to be kept.
    case cannotPack(String)

    /// The program that makes the rows failed. All rows before the failure have been delivered.
    case ofProgram(String)

    /// The input is made elsewhere in this process, and cannot be opened, or read to its end.
    case ofOrigin(String, mayPass: Bool)

    /// The program whose output is the input failed. All complete rows before the failure have been delivered.
    case ofProducer(ProducerFault)

    /// `ChunkReader.cancel()` was called.
    case cancelled
}

extension InputError {
    package var systemCode: Int32? {
        switch self {
        case .cannotOpen(_, let code), .cannotRead(let code): code
        case .cannotSpool(let error): error.systemCode
        case .cannotUnpack(_, .noMemory, _): ENOMEM
        default: nil
        }
    }

    /// An input that is not there yet may come, one that changes is still being written, and a program that failed may not fail again.
    package var mayPass: Bool {
        switch self {
        case .cannotOpen(_, let code): code == ENOENT || hasPassingCode
        case .changedWhileRead: true
        case .inFile(_, _, let mayPass), .ofOrigin(_, let mayPass): mayPass
        case .ofProducer(.cannotStart): false
        case .ofProducer: true
        default: hasPassingCode
        }
    }

    /// Whether the input is damaged, so that it is read in vain however often.
    package var isDamage: Bool {
        switch self {
        case .cannotUnpack(_, let fault, _): fault != .noMemory
        case .quoting: true
        default: false
        }
    }

    /// The error as a line of text: `input:line:column: cause` if it has a position, else `input: cause`.
    ///
    /// - Parameter input: the name of the input.
    package func message(input: String) -> String {
        switch self {
        case .badHeader, .quoting: "\(input):\(self)"
        case .foreign(let format): "\(input): \(format.message(path: input.hasPrefix("<") ? nil : input))"
        case .inFile(_, let text, _): text
        case .cannotOpen(_, let errno): "\(input): cannot be opened: \(Self.text(errno))"
        default: "\(input): \(self)"
        }
    }
}

extension InputError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .cannotOpen(let path, let errno):
            "\(path): cannot be opened: \(Self.text(errno))"
        case .cannotRead(let errno):
            "the input cannot be read: \(Self.text(errno))"
        case .cannotUnpack(let packing, let fault, let offset):
            "byte \(offset): \(fault.text(packing))"
        case .foreign(let format):
            format.message(path: nil)
        case .noHeader:
            "the input has no header row"
        case .badHeader(let error):
            "\(error.line):\(error.column): header row: \(error.cause)"
        case .quoting(let quoting, let line, let column):
            "\(line):\(column): \(quoting.text)"
        case .emptyColumnName(let index):
            "column \(index + 1) of the header row has no name"
        case .duplicateColumnName(let name, let first, let second):
            "columns \(first + 1) and \(second + 1) of the header row are both named \((name.count > 32 ? name.prefix(12) + "…" : name[...]).quoted)"
        case .changedWhileRead(let bytesAtOpen, let bytesRead):
            "the input changed while it was read: it had \(bytesAtOpen) bytes when opened and ended after \(bytesRead)"
        case .changedRows(let first, let last):
            "the input changed: rows \(first) to \(last)"
        case .changedRow(let row):
            "row \(row) is not the one that was taken before the run was interrupted"
        case .changedBytes(let offset):
            "the input changed: byte \(offset)"
        case .cannotSpool(let error):
            "\(error)"
        case .inFile(_, let text, _):
            text
        case .sameFile(let path):
            "this file is the same as \(path), and would be sent twice"
        case .otherFormat:
            "one of this file and the first one has JSON objects in lines, and the other has not"
        case .otherHeader(let header, let found):
            "the header row is not that of the first file: expected \(header), found \(found)"
        case .cannotPack(let cause):
            "the input cannot be packed to be kept: \(cause)"
        case .ofProgram(let cause):
            "the program that makes the rows failed: \(cause)"
        case .ofOrigin(let cause, _):
            cause
        case .ofProducer(let fault):
            fault.text
        case .cancelled:
            "reading was cancelled"
        }
    }

    /// The same error about another line.
    package func moved(toLine line: UInt64) -> InputError {
        guard case .quoting(let quoting, _, let column) = self else { return self }
        return .quoting(quoting, line: line, column: column)
    }

    private static func text(_ errno: Int32) -> String { unsafe String(cString: strerror(errno)) }
}

extension QuotingDoubt {
    fileprivate var text: String {
        switch self {
        case .escapes:
            "a backslash before a quote or a line end, as Spark, MySQL and pandas write it; CSV (RFC 4180) doubles quotes: "
                + "escape: backslash reads it, and escape: none if the backslash is text"
        case .lineEnd:
            "a backslash at the end of a line, outside of quotes: for some programs the line is the end of the row, and for others not; "
                + "have all texts quoted in the export, or give escape: none if the backslash is text"
        }
    }
}
