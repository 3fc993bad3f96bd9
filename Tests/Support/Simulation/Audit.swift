import APNSBatch
import APNSBatchModel

/// Compares each session with what the server received in it, after the last request of the session has arrived.
struct Audit {
    private let plan: SeedPlan
    private let witness: Witness
    /// The number of requests for each row before the session.
    private var received: [Int]
    private var accepted: [Int]
    /// The contents of the ledger at the end of the previous session.
    private var before = LedgerImage([])
    /// Rows that have no outcome after a session and may have arrived.
    private(set) var mayHaveArrived: Set<UInt64> = []

    /// How a session ended.
    enum Ending {
        /// Its threads ended in order.
        case orderly
        case killed
        case powerless
    }

    init(_ plan: SeedPlan, _ witness: Witness) {
        self.plan = plan
        self.witness = witness
        received = Array(repeating: 0, count: plan.rows.count)
        accepted = received
    }

    /// - Parameter words: what remains of the lanes' notes.
    mutating func end(_ ending: Ending, _ image: LedgerImage, words: [UInt64], policy: UnknownPolicy) -> [String] {
        var findings = image.faults
        for row in plan.rows {
            let (wasReceived, wasAccepted) = (received[row.index], accepted[row.index])
            received[row.index] = witness.received(row.number)
            accepted[row.index] = witness.accepted(row.number)
            let session = (received: received[row.index] - wasReceived, accepted: accepted[row.index] - wasAccepted)
            if hasDoubt(row.number, image, ending, words) { mayHaveArrived.insert(row.number) }
            guard session.received > 0 else { continue }
            if !row.mayGoTwice(policy), wasAccepted > 0 || session.accepted > 1 {
                findings.append("row \(row.number): received once more, \(policy.name) notwithstanding")
            }
            if let finding = judge(row.number, image, session) { findings.append("row \(row.number): \(finding)") }
        }
        before = image
        return findings
    }

    private func hasDoubt(_ row: UInt64, _ image: LedgerImage, _ ending: Ending, _ words: [UInt64]) -> Bool {
        guard image.rows[row] == nil, let range = image.range(of: row) else { return false }
        if image.isHanded(row) { return true }
        return !image.isEnded && (ending == .powerless || row - range < noted(range, words))
    }

    private func judge(_ row: UInt64, _ image: LedgerImage, _ session: (received: Int, accepted: Int)) -> String? {
        let wasReopened = image.reopenings > before.reopenings && image.reopened.contains(row)
        if before.rows[row] != nil, !wasReopened { return "it had its outcome, and was sent again" }
        if image.rows[row] != nil { return nil }
        if image.range(of: row) == nil { return "it was sent before the ledger said so" }
        if image.isEnded, !image.isHanded(row) {
            return session.accepted > 0 ? "it was accepted, and the ledger calls it never sent" : nil
        }
        return mayHaveArrived.contains(row) ? nil : "it was sent, and is not noted"
    }

    /// Returns how many of the first rows of a range may have been handed over.
    private func noted(_ range: UInt64, _ words: [UInt64]) -> UInt64 {
        var most: UInt64?
        for index in stride(from: 4, to: words.count, by: 2) where words[index] != 0 && words[index] >> 23 == range {
            most = max(most ?? 0, words[index] & (1 << 23 - 1))
        }
        return most ?? .max
    }
}
