extension KnownReason {
    /// The reason as APNs writes it.
    package var text: String { rule.text }

    /// The row of the table for it.
    package var rule: AnswerRule { AnswerRule.all[Int(rawValue)] }

    /// Finds the reason that is exactly these bytes. Complexity: O(n) for the hash, then one or a few comparisons.
    init?(bytes: UnsafeRawBufferPointer) {
        var slot = Self.slot(bytes)
        while Self.slots[slot] != Self.noReason {
            let rule = AnswerRule.all[Int(Self.slots[slot])]
            if rule.text.hasBytes(bytes) {
                self = rule.reason
                return
            }
            slot = (slot + 1) % Self.slotCount
        }
        return nil
    }

    /// More than twice as many as there are reasons, so that a search meets an empty one soon.
    private static let slotCount = 128
    private static let noReason = UInt8.max

    /// Open addressing: each slot holds a reason's number, or none.
    private static let slots: [UInt8] = {
        var slots = [UInt8](repeating: noReason, count: slotCount)
        for rule in AnswerRule.all {
            var text = rule.text
            var slot = text.withUTF8 { Self.slot(UnsafeRawBufferPointer($0)) }
            while slots[slot] != noReason { slot = (slot + 1) % slotCount }
            slots[slot] = rule.reason.rawValue
        }
        return slots
    }()

    /// FNV-1a of 32 bits, folded.
    private static func slot(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hash: UInt32 = 0x811c_9dc5
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        return Int(truncatingIfNeeded: (hash ^ (hash >> 16)) % UInt32(slotCount))
    }
}
