/// What identifies a run in the history: a directory may hold several, one after the other.
package struct RunKey: Sendable, Hashable {
    /// The absolute path of the run directory.
    package let runDirectory: String
    /// When the first session began, in UTC, such as `2026-11-21T03:00:00Z`.
    package let began: String

    package init(runDirectory: String, began: String) { (self.runDirectory, self.began) = (runDirectory, began) }
}
