/// A rule of the sender's storage that is broken on purpose, to show that the simulation finds it. Rules of what is sent are
/// broken in a copy of the source, by the patches in Tests/Mutants that name seeds.
package enum BrokenRule: String, CaseIterable, Sendable {
    /// Rows are sent before it is durable that they will be.
    case sendBeforeIntent = "send-before-intent"
    /// The lanes' notes are believed though they were lost with the power.
    case believeNotes = "believe-notes"
    /// A torn record at the end of the ledger is not cut off.
    case keepTornTail = "keep-torn-tail"
}
