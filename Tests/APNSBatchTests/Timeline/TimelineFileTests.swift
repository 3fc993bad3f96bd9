import APNSBatchBasics
import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Timeline file") struct TimelineFileTests {
    /// Returns a point in which all figures differ, for each number.
    private static func point(_ number: Int, kind: TimelinePoint.Kind = .second) -> TimelinePoint {
        var point = TimelinePoint(kind)
        let base = UInt64(number) * 100
        point.unixMilliseconds = 1_764_000_000_000 + Int64(number) * 1000
        (point.elapsedMilliseconds, point.session) = (base + 1, UInt32(number + 2))
        (point.isPaused, point.isCanary, point.isWaiting) = (number % 2 == 0, number % 3 == 0, number % 5 == 0)
        point.heldBackBy = CampaignProgress.Hold.allCases[number % CampaignProgress.Hold.allCases.count]
        for (index, outcome) in Outcome.allCases.enumerated() { point[outcome] = base + UInt64(3 + index) }
        (point.rowsTotal, point.requests, point.retries, point.answers) = (base + 10, base + 11, base + 12, base + 13)
        (point.bytesRead, point.cpuMicroseconds, point.rssBytes) = (base + 14, base + 15, base + 16)
        point.rateLimit = Double(number) + 0.25
        point.answerTimes = .init(p50: 17, p90: 18, p99: 19, max: UInt32(20 + number))
        (point.connectionsOpened, point.connections, point.streams) = (UInt32(21 + number), 22, 23)
        (point.inFlight, point.retrying) = (24, 25)
        return point
    }

    private static let points = (1...3).map { point($0) }

    private static func open(_ storage: MemoryStorage) throws -> TimelineWriter {
        try TimelineWriter(storage, of: LedgerSample.header, name: "timeline")
    }

    private static func timeline(_ points: [TimelinePoint]) throws -> MemoryStorage {
        let storage = MemoryStorage()
        let writer = try open(storage)
        for point in points { try writer.append(point) }
        return storage
    }

    private static func read(_ storage: MemoryStorage, last: Int? = nil) throws -> [TimelinePoint] {
        var reader = try TimelineReader(storage, name: "run", last: last)
        return try reader.read()
    }

    @Test("Points are read as they were written")
    func roundTrip() throws {
        var least = TimelinePoint(.begin)
        let all = Self.points + [Self.point(4, kind: .end), least]
        let storage = try Self.timeline(all)
        #expect(try Self.read(storage) == all && storage.length == 6 * 192)
        least.kind = .end
        #expect(try Self.read(storage).last != least)
        #expect(try Self.read(storage).last?.rowsTotal == nil && Self.read(storage).last?.answerTimes == nil)
        #expect(try Self.read(storage).last?.rateLimit == nil && Self.read(storage).last?.heldBackBy == nil)
    }

    @Test("A long timeline is read bit by bit, without its damaged records, and each point once")
    func bitByBit() throws {
        let all = (1...1000).map { Self.point($0) }
        let whole = try Self.timeline(all)
        var bytes = whole.bytes
        // More damaged records in a row than are read at once.
        for record in 101...700 { bytes[record * 192 + 50] ^= 1 }
        var reader = try TimelineReader(MemoryStorage(bytes), name: "run")
        var points: [TimelinePoint] = []
        while case let more = try reader.read(enough: 1), !more.isEmpty {
            #expect(more.count <= 256)
            points += more
        }
        #expect(points == Array(all[..<100] + all[700...]))
    }

    @Test("A record with any byte damaged is skipped, and the others are read")
    func damage() throws {
        let whole = try Self.timeline(Self.points).bytes
        for offset in 0..<192 {
            let storage = MemoryStorage(whole)
            storage.bytes[2 * 192 + offset] ^= 0x10
            #expect(try Self.read(storage) == [Self.points[0], Self.points[2]], "byte \(offset)")
        }
    }

    @Test("A timeline that was cut anywhere is continued behind its last whole record")
    func cut() throws {
        let whole = try Self.timeline(Self.points).bytes
        for length in 0..<whole.count {
            let storage = MemoryStorage(Array(whole.prefix(length)))
            let left = Self.points.prefix(max(0, length / 192 - 1))
            if length >= 192 { #expect(try Self.read(storage) == Array(left), "cut at \(length)") }
            try Self.open(storage).append(Self.point(9))
            #expect(try Self.read(storage) == left + [Self.point(9)], "cut at \(length)")
        }
    }

    @Test("Damaged records at the end are cut before others follow, such as the zeros of a lost power")
    func damagedEnd() throws {
        let storage = try Self.timeline(Self.points)
        storage.bytes[2 * 192 + 50] ^= 1
        storage.bytes[3 * 192 + 50] ^= 1
        storage.bytes += [UInt8](repeating: 0, count: 1000)
        try Self.open(storage).append(Self.point(9))
        #expect(try Self.read(storage) == [Self.points[0], Self.point(9)] && storage.length == 3 * 192)

        let zeros = MemoryStorage([UInt8](repeating: 0, count: 1000))
        try Self.open(zeros).append(Self.point(9))
        #expect(try Self.read(zeros) == [Self.point(9)])
    }

    @Test("On a full disk a torn record is cut, and the timeline continues when there is space")
    func fullDisk() throws {
        for room in 0..<192 as Range<UInt64> {
            for cutsFail in [false, true] {
                let storage = try Self.timeline(Self.points)
                let writer = try Self.open(storage)
                storage.capacity = storage.length + room
                storage.cutsLeft = cutsFail ? 0 : .max
                #expect(throws: StorageError.self) { try writer.append(Self.point(7)) }
                #expect(storage.length == 4 * 192 + (cutsFail ? room : 0))
                #expect(try Self.read(storage) == Self.points)
                storage.capacity = nil
                try writer.append(Self.point(8))
                #expect(try Self.read(storage) == Self.points + [Self.point(8)])
            }
        }
    }

    @Test("A file that is not the timeline of the run is left as it is")
    func foreign() throws {
        var other = LedgerSample.header
        other.identity.1 ^= 1
        let ofOther = MemoryStorage()
        _ = try TimelineWriter(ofOther, of: other, name: "timeline")
        let damaged = try Self.timeline(Self.points)
        damaged.bytes[20] ^= 1
        for storage in [MemoryStorage(Array("mine".utf8)), ofOther, damaged] {
            let before = storage.bytes
            #expect(throws: CampaignError.self) { _ = try Self.open(storage) }
            #expect(storage.bytes == before)
        }
        #expect(throws: CampaignError.self) { _ = try Self.read(MemoryStorage(Array("mine".utf8))) }
        #expect(try Self.read(damaged) == Self.points, "the points can still be read")
    }

    @Test("A timeline is read while it grows, and a record that replaces a damaged one is not missed")
    func growing() throws {
        let storage = try Self.timeline([Self.points[0], Self.points[1]])
        storage.bytes[2 * 192 + 9] ^= 1
        var reader = try TimelineReader(storage, name: "run")
        #expect(try reader.read() == [Self.points[0]] && reader.read() == [])
        let writer = try Self.open(storage)
        try writer.append(Self.points[2])
        #expect(try reader.read() == [Self.points[2]] && reader.read() == [])
        storage.bytes += TimelineRecord.encode(Self.point(5)).prefix(100)
        #expect(try reader.read() == [])
        storage.bytes += TimelineRecord.encode(Self.point(5)).dropFirst(100)
        #expect(try reader.read() == [Self.point(5)])
    }

    @Test("A long timeline is read whole, or from one of its last records on")
    func long() throws {
        let all = (0..<1000).map { Self.point($0) }
        let storage = try Self.timeline(all)
        #expect(try Self.read(storage) == all)
        for last in [0, 1, 600, 1000, 5000] { #expect(try Self.read(storage, last: last) == all.suffix(last)) }
    }

    @Test("A timeline of a later version is refused, and its records are skipped")
    func laterVersion() throws {
        func later(_ record: [UInt8]) -> [UInt8] {
            var record = record
            record[1] = 2
            let sum = (record.prefix(4) + record.dropFirst(8)).withUnsafeBytes { CRC32C.of($0) }
            for index in 0..<4 { record[4 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
            return record
        }
        let storage = try Self.timeline([Self.points[0]])
        storage.bytes += later(TimelineRecord.encode(Self.points[1]))
        try Self.open(storage).append(Self.points[2])
        #expect(try Self.read(storage) == [Self.points[0], Self.points[2]] && storage.length == 4 * 192)
        let whole = MemoryStorage(later(Array(storage.bytes.prefix(192))))
        #expect(throws: CampaignError.self) { _ = try Self.read(whole) }
        #expect(throws: CampaignError.self) { _ = try Self.open(whole) }
    }

    @Test("Rates are differences of points of one session")
    func rates() {
        var (early, late) = (TimelinePoint(.begin), TimelinePoint(.second))
        (late.elapsedMilliseconds, late.requests) = (2500, 1000)
        #expect(late.perSecond(\.requests, since: early) == 400)
        #expect(early.perSecond(\.requests, since: late) == nil && early.perSecond(\.rows, since: early) == nil)
        early.session = 1
        #expect(late.perSecond(\.requests, since: early) == nil)
    }
}
