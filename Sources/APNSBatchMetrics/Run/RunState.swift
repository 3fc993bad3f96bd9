import APNSBatchModel

/// What a run does, in one word.
package enum RunState: String, Sendable, CaseIterable {
    /// No process works on a run.
    case idle
    /// Rows are sent.
    case sending
    /// The first rows are sent, on which the rest depends.
    case canary
    /// Nothing is sent for a reason, such as a server that does not answer.
    case waiting
    /// The operator has paused the run.
    case paused

    package init(_ progress: CampaignProgress) {
        self =
            progress.isPaused ? .paused : progress.waiting != nil ? .waiting : progress.isCanary ? .canary : .sending
    }
}
