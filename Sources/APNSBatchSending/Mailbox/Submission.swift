import APNSBatchModel

/// A notification on its way from a program to a lane.
struct Submission: Sendable {
    /// Identifies the submission: the number of its place, and in the upper half how often the place was used before. It is
    /// the number of the row in the lane.
    let id: UInt64
    let fields: SubmittedFields

    /// The place of a submission.
    static func place(of id: UInt64) -> Int { Int(truncatingIfNeeded: id & 0xffff_ffff) }
}
