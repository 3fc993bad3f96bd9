import APNSBatchBasics
import APNSBatchModel

/// A record of a timeline: 192 bytes, little-endian, of which the first eight are the same in all kinds.
///
///     kind (8 bits), version (8), "AT", CRC-32C of all other bytes (32)
///
/// docs/reference/timeline.md describes the rest.
enum TimelineRecord {
    static let length = 192
    static let version: UInt8 = 1
    private static let header: UInt8 = 1
    /// The value for a number that is not known.
    private static let unknown = UInt64.max

    /// The first record of a timeline, which identifies its run.
    struct Header: Equatable {
        /// The value from which the `apns-id`s of the run derive.
        var identity: (UInt64, UInt64)
        /// When the campaign began, in seconds since the epoch.
        var start: UInt64

        static func == (left: Self, right: Self) -> Bool {
            left.identity == right.identity && left.start == right.start
        }
    }

    // MARK: Encoding

    static func encode(_ header: Header) -> [UInt8] {
        var fields = Fields()
        fields.add(header.identity.0)
        fields.add(header.identity.1)
        fields.add(header.start)
        return record(Self.header, fields)
    }

    static func encode(_ point: TimelinePoint) -> [UInt8] {
        var fields = Fields()
        fields.add(point.unixMilliseconds)
        fields.add(point.elapsedMilliseconds)
        fields.add(point.session)
        fields.add(flags(of: point))
        fields.add(point.heldBackBy?.rawValue ?? 0)
        fields.add(0 as UInt8)
        let counts = point.totals.outcomes.counts
        for index in counts.indices { fields.add(counts[index]) }
        fields.add(point.rowsTotal ?? unknown)
        for number in [
            point.requests, point.retries, point.answers, point.bytesRead, point.cpuMicroseconds, point.rssBytes,
        ] {
            fields.add(number)
        }
        fields.add((point.rateLimit ?? .nan).bitPattern)
        let times = point.answerTimes ?? noTimes
        for number in [
            times.p50, times.p90, times.p99, times.max, point.connectionsOpened, point.connections, point.streams,
            point.inFlight, point.retrying,
        ] {
            fields.add(number)
        }
        return record(point.kind.rawValue, fields)
    }

    private static func record(_ kind: UInt8, _ fields: Fields) -> [UInt8] {
        var bytes = [kind, version, UInt8(ascii: "A"), UInt8(ascii: "T"), 0, 0, 0, 0] + fields.bytes
        bytes += [UInt8](repeating: 0, count: length - bytes.count)
        var sum = Fields()
        sum.add(Self.sum(of: bytes[...]))
        bytes.replaceSubrange(4..<8, with: sum.bytes)
        return bytes
    }

    /// - Parameter record: A whole record.
    private static func sum(of record: ArraySlice<UInt8>) -> UInt32 {
        let first = unsafe record.prefix(4).withUnsafeBytes { unsafe CRC32C.of($0) }
        return unsafe record.dropFirst(8).withUnsafeBytes { unsafe CRC32C.of($0, after: first) }
    }

    // MARK: Decoding

    /// Whether bytes begin as a record of any version does.
    static func isTagged(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.dropFirst(2).prefix(2).elementsEqual("AT".utf8)
    }

    /// Whether bytes begin as the header of any version does, as far as they go.
    static func isHeaderTag(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.first == header && "AT".utf8.starts(with: bytes.dropFirst(2).prefix(2))
    }

    /// Whether bytes are a record of any version, and intact.
    static func holds(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count == length, isTagged(bytes) else { return false }
        var fields = FieldReader(bytes.dropFirst(4))
        return fields.next(UInt32.self) == sum(of: bytes)
    }

    /// Returns nil for bytes that are not an intact header of this version.
    static func header(_ bytes: ArraySlice<UInt8>) -> Header? {
        guard holds(bytes), bytes.prefix(2).elementsEqual([header, version]) else { return nil }
        var fields = FieldReader(bytes.dropFirst(8))
        return Header(
            identity: (fields.next(UInt64.self), fields.next(UInt64.self)), start: fields.next(UInt64.self))
    }

    /// Returns nil for bytes that are not an intact point of this version.
    static func point(_ bytes: ArraySlice<UInt8>) -> TimelinePoint? {
        guard holds(bytes), bytes.dropFirst().first == version,
            let kind = bytes.first.flatMap(TimelinePoint.Kind.init(rawValue:))
        else { return nil }
        var fields = FieldReader(bytes.dropFirst(8))
        var point = TimelinePoint(kind)
        point.unixMilliseconds = fields.next(Int64.self)
        point.elapsedMilliseconds = fields.next(UInt64.self)
        point.session = fields.next(UInt32.self)
        set(flags: fields.next(UInt16.self), of: &point)
        point.heldBackBy = CampaignProgress.Hold(rawValue: fields.next(UInt8.self))
        _ = fields.next(UInt8.self)
        for index in point.totals.outcomes.counts.indices {
            point.totals.outcomes.counts[index] = fields.next(UInt64.self)
        }
        point.rowsTotal = known(fields.next(UInt64.self))
        point.requests = fields.next(UInt64.self)
        point.retries = fields.next(UInt64.self)
        point.answers = fields.next(UInt64.self)
        point.bytesRead = fields.next(UInt64.self)
        point.cpuMicroseconds = fields.next(UInt64.self)
        point.rssBytes = fields.next(UInt64.self)
        let limit = Double(bitPattern: fields.next(UInt64.self))
        point.rateLimit = limit.isFinite ? limit : nil
        let times = TimelinePoint.AnswerMicroseconds(
            p50: fields.next(UInt32.self), p90: fields.next(UInt32.self), p99: fields.next(UInt32.self),
            max: fields.next(UInt32.self))
        point.answerTimes = times == noTimes ? nil : times
        point.connectionsOpened = fields.next(UInt32.self)
        point.connections = fields.next(UInt32.self)
        point.streams = fields.next(UInt32.self)
        point.inFlight = fields.next(UInt32.self)
        point.retrying = fields.next(UInt32.self)
        return point
    }

    private static func known(_ number: UInt64) -> UInt64? { number == unknown ? nil : number }

    private static let noTimes = TimelinePoint.AnswerMicroseconds(p50: .max, p90: .max, p99: .max, max: .max)

    // MARK: Flags

    private static func flags(of point: TimelinePoint) -> UInt16 {
        (point.isPaused ? 1 : 0) | (point.isCanary ? 2 : 0) | (point.isWaiting ? 4 : 0)
    }

    private static func set(flags: UInt16, of point: inout TimelinePoint) {
        (point.isPaused, point.isCanary, point.isWaiting) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0)
    }
}

/// Numbers one after the other, little-endian.
private struct Fields {
    private(set) var bytes: [UInt8] = []

    mutating func add<Number: FixedWidthInteger>(_ number: Number) {
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

/// Reads the numbers of a record, which is long enough.
private struct FieldReader {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    mutating func next<Number: FixedWidthInteger>(_: Number.Type) -> Number {
        var number: Number = 0
        for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
            number |= Number(truncatingIfNeeded: bytes.removeFirst()) << shift
        }
        return number
    }
}
