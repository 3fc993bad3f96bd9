import APNSBatchRecords
import APNSBatchRows

/// The bodies of records.
extension PlanHeader {
    var body: [UInt8] {
        var body: [UInt8] = []
        body.add(identity.0)
        body.add(identity.1)
        body.add(time)
        body.add(inputBytes ?? .max)
        body.add(columnsSum)
        body.add(UInt32(0))
        return body
    }

    init?(_ bytes: [UInt8]) {
        var body = PlanBody(bytes)
        guard let high = body.next(UInt64.self), let low = body.next(UInt64.self), let time = body.next(UInt64.self),
            let inputBytes = body.next(UInt64.self), let columnsSum = body.next(UInt32.self),
            body.next(UInt32.self) == 0, body.isAtEnd
        else { return nil }
        self.init(
            identity: (high, low), time: time, inputBytes: inputBytes == .max ? nil : inputBytes, columnsSum: columnsSum
        )
    }
}

extension PlanRange {
    var body: [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(PlanBody.rangeBytes + decisions.words.count * 8)
        body.add(facts.firstRow)
        body.add(facts.start.line)
        body.add(facts.start.offset)
        body.add(UInt32(facts.rows))
        body.add(UInt32(facts.bytes))
        body.add(facts.sum)
        body.add(UInt32(0))
        for word in decisions.words { body.add(word) }
        return body
    }

    init?(_ bytes: [UInt8]) {
        var body = PlanBody(bytes)
        guard let row = body.next(UInt64.self), let line = body.next(UInt64.self), let offset = body.next(UInt64.self),
            let rows = body.next(UInt32.self), let bytes = body.next(UInt32.self), let sum = body.next(UInt32.self),
            body.next(UInt32.self) == 0, rows >= 1, rows <= LedgerRange.rowsMax,
            let words = body.words(RowDecisions.words(of: Int(rows))), body.isAtEnd,
            let decisions = RowDecisions(count: Int(rows), words: words)
        else { return nil }
        let start = RowPosition(row: row, line: line, offset: offset)
        self.init(LedgerRange(start: start, rows: Int(rows), bytes: Int(bytes), sum: sum), decisions)
    }
}

extension PlanFacts {
    var body: [UInt8] {
        var body: [UInt8] = []
        for number in [rows, ranges, suppressed, later, heldBack] { body.add(number) }
        body.add(UInt64(duplicates == nil ? 0 : 1))
        guard let duplicates else { return body }
        body.add(duplicates.rows)
        body.add(duplicates.repeated)
        for pair in duplicates.examples { for row in pair { body.add(row) } }
        return body
    }

    init?(_ bytes: [UInt8]) {
        var body = PlanBody(bytes)
        guard let numbers = body.words(6), numbers[5] <= 1 else { return nil }
        self.init(
            rows: numbers[0], ranges: numbers[1], suppressed: numbers[2], later: numbers[3], heldBack: numbers[4],
            duplicates: nil)
        guard numbers[5] == 1 else {
            if body.isAtEnd { return }
            return nil
        }
        guard let keyed = body.words(2), keyed[1] <= keyed[0] else { return nil }
        var examples: [[UInt64]] = []
        while !body.isAtEnd {
            guard let pair = body.words(2), pair[0] < pair[1] else { return nil }
            examples.append(pair)
        }
        guard examples.count <= DuplicateTally.examplesMost else { return nil }
        duplicates = DuplicateTally(rows: keyed[0], repeated: keyed[1], examples: examples)
    }
}
