/// A parser or a state machine that is fed bytes of strangers. Whatever the bytes, it ends in order and keeps what it
/// promises; a broken promise traps.
package struct FuzzTarget: Sendable {
    /// Also the name of its folder in Fuzz/Corpus.
    package let name: String
    package let run: @Sendable (UnsafeRawBufferPointer) -> Void

    package static let all: [FuzzTarget] = [
        FuzzTarget(name: "csv", run: fuzzCSV),
        FuzzTarget(name: "ndjson", run: fuzzNDJSON),
        FuzzTarget(name: "packing", run: fuzzPacking),
        FuzzTarget(name: "spool", run: fuzzSpool),
        FuzzTarget(name: "template", run: fuzzTemplate),
        FuzzTarget(name: "payload", run: fuzzPayload),
        FuzzTarget(name: "answer", run: fuzzAnswer),
        FuzzTarget(name: "fields", run: fuzzFields),
        FuzzTarget(name: "strings", run: fuzzStrings),
        FuzzTarget(name: "recipient", run: fuzzRecipient),
        FuzzTarget(name: "ledger", run: fuzzLedger),
        FuzzTarget(name: "plan", run: fuzzPlan),
        FuzzTarget(name: "timeline", run: fuzzTimeline),
        FuzzTarget(name: "metrics", run: fuzzMetrics),
        FuzzTarget(name: "session", run: fuzzSession),
        FuzzTarget(name: "hpack", run: fuzzHPACK),
        FuzzTarget(name: "answers", run: fuzzAnswers),
        FuzzTarget(name: "calls", run: fuzzCalls),
        FuzzTarget(name: "tables", run: fuzzTables),
    ]

    package static func named(_ name: String) -> FuzzTarget? {
        all.first { $0.name == name }
    }
}

/// Bytes split at each 0xFF, which is no byte of UTF-8.
func parts(_ bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
    bytes.split(separator: 0xFF, omittingEmptySubsequences: false).map { Array($0) }
}

/// Calls `body` with views of the fields, valid until it returns. Each stands in memory of its own size, so that a
/// sanitizer sees a step beyond it.
func withViews<R>(_ fields: [[UInt8]], _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) -> R) -> R {
    let copies = fields.map { field in
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: field.count, alignment: 1)
        copy.copyBytes(from: field)
        return copy
    }
    defer { for copy in copies { copy.deallocate() } }
    return copies.map { UnsafeRawBufferPointer($0) }.withUnsafeBufferPointer(body)
}
