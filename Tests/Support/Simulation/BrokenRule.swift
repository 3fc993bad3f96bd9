/// A rule of the sender's storage that is broken on purpose, to show that the simulation detects it. Rules of sending
/// are broken in a copy of the source by the patches in Tests/Mutants that have a `Seeds:` line.
package enum BrokenRule: String, CaseIterable, Sendable {
    /// Rows are sent before their announcement is durable.
    case sendBeforeIntent = "send-before-intent"
    /// The notes of the lanes are believed although they were lost with the power.
    case believeNotes = "believe-notes"
    /// A torn record at the end of the ledger is not removed.
    case keepTornTail = "keep-torn-tail"
}
