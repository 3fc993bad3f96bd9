import APNSBatchModel
import APNSBatchRecords
import APNSBatchSending
import Logging

/// What a run is made of, as its caller gives it.
struct RunRequest {
    let campaign: Campaign
    /// The source of the rows.
    let input: RunInput
    /// How an input is kept that can be read only once.
    var keeping = InputKeeping()
    /// Makes the rows of a program; nil if the rows are read.
    var production: RowProduction?
    /// Whether to continue the run in ``Campaign/runDirectory``.
    var isResuming = false
    /// Used in place of the files in the run directory; nil for these.
    var files: (any RunFiles)?
    let logger: Logger
    var metrics = MetricsReceiver.current
    /// Used in place of the system.
    var surroundings = Surroundings.system
}
