import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// Formats outcomes as lines of `results.csv` into its own buffer.
///
///     row,token,outcome,status,reason,timestamp,apns_id,attempts,apns_unique_id
///
/// The carried columns follow. Lines end in LF. A field is quoted only if RFC 4180 requires it. Texts of the input and of servers are
/// fields that can be opened in a spreadsheet and shown on a terminal (`SheetField`). `status` and `timestamp`
/// are empty if there is none; `apns_id` is empty for rows that were never sent, and `apns_unique_id` if the server sent
/// none.
@safe package struct ResultLines: ~Copyable {
    static let columns = [
        "row", "token", "outcome", "status", "reason", "timestamp", "apns_id", "attempts", "apns_unique_id",
    ]

    /// Returns the first line.
    ///
    /// - Parameter carried: the names of the carried columns.
    static func header(_ carried: [String] = []) -> [UInt8] {
        var lines = ResultLines(campaign: (0, 0))
        for (place, name) in (columns + carried).enumerated() {
            if place > 0 { lines.append(byte: UInt8(ascii: ",")) }
            unsafe Array(name.utf8).withUnsafeBytes { unsafe lines.append(field: $0) }
        }
        lines.append(byte: UInt8(ascii: "\n"))
        return unsafe Array(lines.bytes)
    }

    /// The number of bytes of lines that are buffered before they are written.
    package static let usualCapacity = 256 * 1024

    /// The maximum length of a line's fixed parts: three numbers of up to 20 digits, the apns-id, the outcome, commas.
    private static let fixedLimit = 160
    /// The maximum length of a line.
    private let lineLimit: Int

    private let campaign: (UInt64, UInt64)
    /// The number of carried columns.
    private let carried: Int
    private let capacity: Int
    private let buffer: UnsafeMutablePointer<UInt8>
    private var used = 0
    /// The last status that was written, and its digits in memory order.
    private var lastStatus: (number: UInt16, digits: UInt64, length: Int) = (0, 0, 0)

    /// - Parameter carried: the number of carried columns.
    init(campaign: (UInt64, UInt64), carried: Int = 0, capacity: Int = usualCapacity) {
        lineLimit =
            Self.fixedLimit + 2 * SheetField.most(OutcomeBatch.textLimit)
            + (carried + 1) * (SheetField.most(CarriedFields.textMax) + 1)
        precondition(capacity >= lineLimit)
        self.campaign = campaign
        self.carried = carried
        self.capacity = capacity
        unsafe buffer = .allocate(capacity: capacity)
    }

    deinit { unsafe buffer.deallocate() }

    /// Whether the next line fits, whatever its length.
    var hasRoom: Bool { used + lineLimit <= capacity }

    var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: buffer, count: used) }

    mutating func removeAll() { used = 0 }

    mutating func append(_ entry: OutcomeEntry, of batch: OutcomeBatch) {
        assert(hasRoom, "a line fits, whatever its length")
        append(number: entry.row)
        append(byte: UInt8(ascii: ","))
        if entry.isHex {
            unsafe append(plain: batch.token(of: entry))
        } else {
            unsafe append(field: batch.token(of: entry), isKey: true)
        }
        append(byte: UInt8(ascii: ","))
        append(text: entry.outcome.name)
        append(byte: UInt8(ascii: ","))
        if entry.httpStatus > 0 { append(status: entry.httpStatus) }
        append(byte: UInt8(ascii: ","))
        if entry.reasonLength > 0 { unsafe append(field: batch.reason(of: entry)) }
        append(byte: UInt8(ascii: ","))
        if entry.timestamp != OutcomeEntry.noTimestamp { append(number: entry.timestamp) }
        append(byte: UInt8(ascii: ","))
        if entry.hasOwnID {
            unsafe append(plain: batch.ownID(of: entry))
        } else if entry.attempts != 0 {
            unsafe MessageID(campaign: campaign, row: entry.row).write(to: buffer + used)
            used += MessageID.length
        }
        append(byte: UInt8(ascii: ","))
        append(number: UInt64(entry.attempts.count))
        if carried == 0, entry.carriedLength == 0 {
            // A comma and LF, in one store.
            unsafe UnsafeMutableRawPointer(buffer + used).storeBytes(of: UInt16(littleEndian: 0x0A2C), as: UInt16.self)
            used += 2
        } else {
            unsafe append(carried: batch.carried(of: entry))
        }
    }

    /// Appends the unique id, which is the last of the carried fields, and then the carried columns.
    @inline(never)
    private mutating func append(carried fields: UnsafeRawBufferPointer) {
        var rest = unsafe fields
        for _ in 0..<carried { _ = unsafe CarriedFields.takeFirst(&rest) }
        append(byte: UInt8(ascii: ","))
        unsafe append(field: CarriedFields.takeFirst(&rest))
        unsafe rest = unsafe fields
        for _ in 0..<carried {
            append(byte: UInt8(ascii: ","))
            unsafe append(field: CarriedFields.takeFirst(&rest))
        }
        append(byte: UInt8(ascii: "\n"))
    }

    /// The digits are cached, because most rows have the same status as the row before.
    private mutating func append(status: UInt16) {
        if status != lastStatus.number {
            lastStatus.number = status
            lastStatus.length = unsafe withUnsafeMutableBytes(of: &lastStatus.digits) {
                unsafe Decimal.write(UInt64(status), to: $0.baseAddress!.assumingMemoryBound(to: UInt8.self))
            }
        }
        unsafe UnsafeMutableRawPointer(buffer + used).storeBytes(of: lastStatus.digits, as: UInt64.self)
        used += lastStatus.length
    }

    private mutating func append(byte: UInt8) {
        unsafe buffer[used] = byte
        used += 1
    }

    private mutating func append(text: StaticString) {
        unsafe (buffer + used).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        used += text.utf8CodeUnitCount
    }

    private mutating func append(number: UInt64) {
        unsafe used += Decimal.write(number, to: buffer + used)
    }

    private mutating func append(plain field: UnsafeRawBufferPointer) {
        unsafe UnsafeMutableRawPointer(buffer + used).copyMemory(
            from: field.baseAddress ?? UnsafeRawPointer(buffer), byteCount: field.count)
        used += field.count
    }

    private mutating func append(field: UnsafeRawBufferPointer, isKey: Bool = false) {
        unsafe used += SheetField.write(field, isKey: isKey, to: buffer + used)
    }
}
