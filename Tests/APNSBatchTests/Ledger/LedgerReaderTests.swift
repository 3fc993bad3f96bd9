import APNSBatchBasics
import APNSBatchNotification
import Testing

@testable import APNSBatchModel
@testable import APNSBatchRecords

@Suite("Ledger reader") struct LedgerReaderTests {
    private typealias Sample = LedgerSample

    @Test("Header, sessions, ranges and outcomes are read as written")
    func readsAll() throws {
        let reading = try Sample.read(Sample.usual.bytes)
        let history = reading.history
        #expect(reading.length == UInt64(Sample.usual.bytes.count))
        #expect(history.header == Sample.header)
        #expect(history.session == Sample.session(2))
        #expect(!history.isEnded)
        #expect(history.ranges.map(\.facts) == [Sample.range(1, rows: 5), Sample.range(6, rows: 3)])
        #expect(history.ranges.map(\.remaining) == [1, 2])
        #expect(history.ranges.map(\.session) == [1, 2])
        #expect(history.ranges.map(\.handed) == [0, 2])
        #expect((0..<5).map { history.ranges[0].isDone($0) } == [true, true, true, true, false])
        #expect(history.tally == Tally(outcomes: [.accepted: 1, .rejected: 2, .invalid: 1, .unknown: 1], attempts: 6))
        #expect(history.reasons[.rejected] == [.known(.unregistered): 1, .unknown("SomethingNew"): 1])
        #expect(history.resultsLength == 300)
        #expect(reading.afterMark == [UInt64(Sample.usual.starts[9])])
    }

    @Test("Header and last session are found without reading the rows")
    func opening() throws {
        var bytes = Sample.usual.bytes
        // The damaged records are the outcomes, the mark and the range between the two sessions.
        for start in Sample.usual.starts[3...5] { bytes[start + 30] ^= 1 }
        var reader = LedgerReader(MemoryStorage(bytes))
        let (header, session) = try reader.opening()
        #expect(header == Sample.header && session == Sample.session(2))
        var none = LedgerReader(MemoryStorage([]))
        #expect(throws: LedgerReader.Failure.notOne) { try none.opening() }
    }

    @Test("Outcomes are restored with their texts")
    func outcomesComeBack() throws {
        let (bytes, starts) = Sample.ledger([
            { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.batch(Sample.ends)) },
        ])
        var reader = LedgerReader(MemoryStorage(bytes))
        let batch = OutcomeBatch()
        _ = try reader.outcomes(at: UInt64(starts[1]), into: batch)
        #expect(Sample.ends(batch) == Sample.ends)
    }

    @Test("A ledger that is cut anywhere gives what stood before the cut record")
    func cuts() throws {
        let (bytes, starts) = Sample.usual
        let wholes = try starts.dropFirst().map { try Sample.read(Array(bytes[..<$0])) }
        for length in 0..<bytes.count {
            let whole = starts.lastIndex { $0 <= length }!
            if whole == 0 {
                #expect(throws: LedgerReader.Failure.notOne) { try Sample.read(Array(bytes[..<length])) }
                continue
            }
            let reading = try Sample.read(Array(bytes[..<length]))
            #expect(reading.length == UInt64(starts[whole]), "\(length)")
            #expect(reading.history.tally == wholes[whole - 1].history.tally, "\(length)")
            #expect(reading.history.ranges == wholes[whole - 1].history.ranges, "\(length)")
        }
    }

    @Test("A flipped bit is reported as a torn tail or as damage, never read as another outcome")
    func flips() throws {
        let (bytes, starts) = Sample.usual
        let whole = try Sample.read(bytes).history
        for position in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[position] ^= 1 << UInt8(bit)
                let record = starts.lastIndex { $0 <= position }!
                do {
                    let reading = try Sample.read(flipped)
                    // The padding has no meaning.
                    let isWhole = reading.length == UInt64(bytes.count)
                    #expect(isWhole || reading.length == UInt64(starts[record]), "\(position) \(bit)")
                    if isWhole { #expect(reading.history.ranges == whole.ranges, "\(position) \(bit)") }
                    #expect(isPrefix(reading.history, of: whole), "\(position) \(bit)")
                } catch {
                    let damaged = LedgerReader.Failure.damaged(at: UInt64(starts[record]))
                    #expect(error == damaged || (record == 0 && error == .notOne), "\(position) \(bit) \(error)")
                }
            }
        }
    }

    /// Returns whether every row that ended in `part` also ended in `whole`.
    private func isPrefix(_ part: LedgerHistory, of whole: LedgerHistory) -> Bool {
        for (range, other) in zip(part.ranges, whole.ranges) {
            guard range.facts == other.facts else { return false }
            for index in 0..<range.facts.rows where range.isDone(index) && !other.isDone(index) { return false }
        }
        return part.ranges.count <= whole.ranges.count
    }

    @Test("Texts before the last mark are not read, and those after it are checked")
    func texts() throws {
        let (bytes, starts) = Sample.usual
        var torn = bytes
        // The last byte of the texts of the last record, which is followed by at most seven bytes of padding.
        torn[bytes.count - 8] ^= 0xFF
        let reading = try Sample.read(torn)
        #expect(reading.length == UInt64(starts[9]))
        #expect(reading.history.tally[.unknown] == 0 && reading.history.ranges[1].remaining == 3)
        var old = bytes
        old[starts[4] - 9] ^= 0xFF
        #expect(try Sample.read(old).history.tally == Sample.read(bytes).history.tally)
        var reader = LedgerReader(MemoryStorage(old))
        #expect(throws: LedgerReader.Failure.damaged(at: UInt64(starts[3]))) {
            try reader.outcomes(at: UInt64(starts[3]), into: OutcomeBatch())
        }
    }

    @Test("Damage that a later mark covers is not a torn tail")
    func damage() throws {
        let (bytes, starts) = Sample.usual
        var damaged = bytes
        damaged[starts[2] + 30] ^= 1
        #expect(throws: LedgerReader.Failure.damaged(at: UInt64(starts[2]))) { try Sample.read(damaged) }
        damaged = bytes
        damaged[starts[5] + 30] ^= 1
        #expect(try Sample.read(damaged).length == UInt64(starts[5]))
    }

    @Test("A mark does not cover records between its covered part and itself")
    func uncovered() throws {
        let (bytes, starts) = Sample.ledger([
            { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
            { encoder, _ in encoder.add(Sample.range(1, rows: 5)) },
            { encoder, at in encoder.addMark(position: at, covered: at - 64, resultsLength: 57) },
        ])
        #expect(starts[3] - starts[2] == 64)
        #expect(try Sample.read(bytes).length == UInt64(bytes.count))
        for (start, isCovered) in [(starts[1], true), (starts[2], false)] {
            var damaged = bytes
            damaged[start + 30] ^= 1
            if isCovered {
                #expect(throws: LedgerReader.Failure.damaged(at: UInt64(start))) { try Sample.read(damaged) }
            } else {
                #expect(try Sample.read(damaged).length == UInt64(start))
            }
        }
    }

    @Test("Only the last record can be torn without a loss of power")
    func sameBoot() throws {
        let (bytes, starts) = Sample.usual
        var damaged = bytes
        damaged[starts[8] + 30] ^= 1
        var texts = bytes + Sample.ledger([{ encoder, _ in encoder.add(Sample.range(6, rows: 3)) }]).bytes
        texts[bytes.count - 8] ^= 0xFF
        for (bytes, at) in [(damaged, starts[8]), (texts, starts[9])] {
            for (boot, isSame) in [((3, 4), true), ((3, 5), false), ((0, 0), false)] as [((UInt64, UInt64), Bool)] {
                var reader = LedgerReader(MemoryStorage(bytes))
                do {
                    let reading = try reader.read(boot: boot)
                    #expect(!isSame && reading.length == UInt64(at))
                } catch {
                    #expect(isSame && error == .damaged(at: UInt64(at)))
                }
            }
        }
        var reader = LedgerReader(MemoryStorage(Array(bytes.dropLast(8))))
        #expect(try reader.read(boot: (3, 4)).length == UInt64(starts[9]))
    }

    @Test("An invalid header before ranges is reported as damage")
    func header() throws {
        let (bytes, starts) = Sample.usual
        for position in [0, 30, starts[1] - 20] {
            var damaged = bytes
            damaged[position] ^= 1
            #expect(throws: LedgerReader.Failure.damaged(at: 0)) { try Sample.read(damaged) }
            // No range was announced.
            #expect(throws: LedgerReader.Failure.notOne) { try Sample.read(Array(damaged[..<starts[2]])) }
        }
    }

    @Test("A disk that cannot be read is not reported as a damaged ledger")
    func unreadable() throws {
        let (bytes, starts) = Sample.usual
        let storage = MemoryStorage(bytes)
        // The offset is that of the third row's reason, which is in no table.
        storage.unreadable = UInt64(starts[3] + 24 + 8 + 48)
        var reader = LedgerReader(storage)
        #expect(throws: LedgerReader.Failure.storage(StorageError("read", "memory", code: 5))) { try reader.read() }
    }

    @Test("Implausible records are reported as damage", arguments: 0..<9)
    func nonsense(number: Int) throws {
        let bad: [(inout LedgerEncoder, UInt64) -> Void] = [
            { encoder, _ in encoder.add(Sample.header) },
            { encoder, _ in encoder.add(Sample.session(7)) },
            { encoder, _ in encoder.add(Sample.range(8, rows: 2)) },
            { encoder, _ in encoder.add(Sample.batch([.init(row: 9, outcome: .accepted)])) },
            { encoder, _ in encoder.add(Sample.batch([.init(row: 1, outcome: .rejected)])) },
            { encoder, at in encoder.addMark(position: at + 8, covered: at, resultsLength: 1) },
            { encoder, _ in encoder.addHanded(firstRow: 2, rows: 1) },
            { encoder, _ in encoder.add(Sample.range(6, rows: 5, bytes: 4)) },
            { encoder, _ in encoder.add(Sample.range(6, rows: 5, firstLine: 1 << 63)) },
        ]
        let (bytes, starts) = Sample.ledger([
            { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
            { encoder, _ in encoder.add(Sample.range(1, rows: 5)) },
            { encoder, _ in encoder.add(Sample.batch([.init(row: 1, outcome: .accepted)])) }, bad[number],
        ])
        #expect(throws: LedgerReader.Failure.damaged(at: UInt64(starts[4]))) { try Sample.read(bytes) }
    }

    @Test("A ledger with an outcome of a later version is not called damaged")
    func laterVersion() throws {
        var (bytes, starts) = Sample.ledger([
            { encoder, _ in encoder.add(Sample.header) }, { encoder, _ in encoder.add(Sample.session(1)) },
            { encoder, _ in encoder.add(Sample.range(1, rows: 5)) },
            { encoder, _ in encoder.add(Sample.batch([.init(row: 1, outcome: .accepted)])) },
        ])
        let record = starts[3]
        bytes[record + LedgerFrame.length + 8 + 7] = 200
        #expect(try Sample.read(bytes).length == UInt64(record))
        try bytes.withUnsafeMutableBytes {
            let frame = try #require(LedgerFrame(UnsafeRawBufferPointer(rebasing: $0[record...])))
            frame.write(to: $0.baseAddress! + record)
        }
        let newer = LedgerReader.Failure.newer(at: UInt64(record))
        #expect(throws: newer) { try Sample.read(bytes) }
        #expect("\(RunPast.explain(newer, name: "run"))".contains("written by a newer version"))
    }

    @Test("Garbage is not a ledger and causes no crash")
    func garbage() {
        var random = SplitMix64(seed: 5)
        for length in [0, 1, 23, 24, 1000, 100_000] {
            let bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            #expect(throws: LedgerReader.Failure.notOne) { try Sample.read(bytes) }
        }
    }
}
