/// Where in a payload something was found, and what.
struct FoundPlace {
    var parent: PayloadKey.Parent
    /// The member's name as it stands in the payload; nil for the parent itself.
    var key: UnsafeBufferPointer<UInt8>?
    var value: PayloadValue?
    /// Counted from 1, where an element of the value is at fault.
    var element = 0
}

/// What a key's value is held against, for the message.
struct FoundFault {
    var form: PayloadKeyForm
    var fault: KeyFault
}

/// Takes what the scan finds. Two of them: one that only keeps the verdict, one that makes words.
protocol FindingSink {
    mutating func note(_ rule: Rule, _ place: FoundPlace, _ fault: FoundFault?)
}

/// Keeps errors and warnings apart, nothing else.
struct VerdictSink: FindingSink {
    var verdict = PayloadVerdict()

    @inline(never)
    mutating func note(_ rule: Rule, _ place: FoundPlace, _ fault: FoundFault?) {
        if rule.severity == .error { verdict.hasError = true } else { verdict.hasWarning = true }
    }
}
