import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification

/// Formats outcomes as rows of `COPY … FROM STDIN` in its text format, into a buffer of its own.
///
///     row ⇥ token ⇥ outcome ⇥ status ⇥ reason ⇥ milliseconds ⇥ apns_id ⇥ attempts ⇥ apns_unique_id
///
/// The carried columns follow. Rows end in LF, and `\N` is NULL. PostgreSQL, "COPY", "Text Format".
struct CopyRows {
    private(set) var bytes: [UInt8] = []
    /// The identity of the campaign, from which the `apns-id`s derive.
    private let campaign: (UInt64, UInt64)
    /// The number of carried columns.
    private let carried: Int
    private let tokens: TokenForm

    /// The last millisecond of the year 9999. A server cannot have meant a later time.
    private static let latestTime: UInt64 = 253_402_300_799_999

    init(campaign: (UInt64, UInt64), carried: Int = 0, tokens: TokenForm = .whole) {
        (self.campaign, self.carried, self.tokens) = (campaign, carried, tokens)
    }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// Appends the rows of a batch.
    ///
    /// - Throws: If OpenSSL lacks memory for the digest of a token.
    mutating func append(_ batch: OutcomeBatch) throws(CredentialError) {
        for index in 0..<batch.count { try append(unsafe batch.entries[index], of: batch) }
    }

    private mutating func append(_ entry: OutcomeEntry, of batch: OutcomeBatch) throws(CredentialError) {
        append(number: entry.row)
        tab()
        try unsafe append(token: batch.token(of: entry))
        tab()
        append(word: entry.outcome.name)
        tab()
        if entry.httpStatus > 0 { append(number: UInt64(entry.httpStatus)) } else { null() }
        tab()
        if entry.reasonLength > 0 { unsafe append(text: batch.reason(of: entry)) } else { null() }
        tab()
        let isDated = entry.timestamp != OutcomeEntry.noTimestamp && entry.timestamp <= Self.latestTime
        if isDated { append(number: entry.timestamp) } else { null() }
        tab()
        appendMessageID(of: entry, batch)
        tab()
        append(number: UInt64(entry.attempts.count))
        unsafe append(carried: batch.carried(of: entry))
        bytes.append(UInt8(ascii: "\n"))
    }

    private mutating func appendMessageID(of entry: OutcomeEntry, _ batch: OutcomeBatch) {
        if entry.hasOwnID { return unsafe append(text: batch.ownID(of: entry)) }
        guard entry.attempts != 0 else { return null() }
        unsafe withUnsafeTemporaryAllocation(byteCount: MessageID.length, alignment: 8) { room in
            unsafe MessageID(campaign: campaign, row: entry.row).write(to: room.baseAddress!)
            unsafe bytes.append(contentsOf: room)
        }
    }

    /// Appends the unique id, which is the last of the carried fields, and then the carried columns.
    private mutating func append(carried fields: UnsafeRawBufferPointer) {
        var rest = unsafe fields
        for _ in 0..<carried { _ = unsafe CarriedFields.takeFirst(&rest) }
        tab()
        let uniqueID = unsafe CarriedFields.takeFirst(&rest)
        if unsafe uniqueID.isEmpty { null() } else { unsafe append(text: uniqueID) }
        unsafe rest = fields
        for _ in 0..<carried {
            tab()
            unsafe append(text: CarriedFields.takeFirst(&rest))
        }
    }

    private mutating func append(token: UnsafeRawBufferPointer) throws(CredentialError) {
        guard tokens == .digest else { return unsafe append(text: token) }
        for byte in try SHA256.digest(unsafe Array(token)) {
            bytes.append(Hex.digit(byte >> 4))
            bytes.append(Hex.digit(byte & 15))
        }
    }

    private mutating func tab() { bytes.append(UInt8(ascii: "\t")) }

    private mutating func null() { bytes += [UInt8(ascii: "\\"), UInt8(ascii: "N")] }

    private mutating func append(word: StaticString) {
        unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    private mutating func append(number: UInt64) {
        unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 24) { room in
            let count = unsafe Decimal.write(number, to: room.baseAddress!)
            unsafe bytes.append(contentsOf: room[..<count])
        }
    }

    /// Appends a text of the input or of a server, which may be any bytes.
    mutating func append(text: UnsafeRawBufferPointer) {
        let isPlain = unsafe text.allSatisfy { 0x20..<0x7F ~= $0 && $0 != UInt8(ascii: "\\") }
        if isPlain { return unsafe bytes.append(contentsOf: text) }
        append(unusual: unsafe String(decoding: text, as: UTF8.self))
    }

    /// Appends a text with bytes that need a thought. Bytes that are not UTF-8 are U+FFFD in it, and so is NUL, which no text
    /// of PostgreSQL can hold.
    private mutating func append(unusual text: String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": bytes += Array(#"\\"#.utf8)
            case "\n": bytes += Array(#"\n"#.utf8)
            case "\r": bytes += Array(#"\r"#.utf8)
            case "\t": bytes += Array(#"\t"#.utf8)
            case "\0": bytes += Array("\u{FFFD}".utf8)
            default: bytes += Array(String(scalar).utf8)
            }
        }
    }
}

/// How a table holds device tokens.
@nonexhaustive
public enum TokenForm: String, Sendable, CaseIterable {
    /// The device token as it was sent, or the channel id of a broadcast.
    case whole
    /// The SHA-256 of that text, as 64 hexadecimal digits in lower case. A table with digests reveals no token, and can
    /// be joined with a list of tokens all the same.
    case digest
}
