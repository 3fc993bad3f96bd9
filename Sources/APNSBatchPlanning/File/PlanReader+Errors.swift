import APNSBatchModel
import APNSBatchRecords

extension PlanReader.Failure {
    /// The error of a run whose plan cannot be read.
    ///
    /// - Parameter directory: The run directory.
    package func error(in directory: String) -> CampaignError {
        let file = "\(directory)/\(RunDirectory.plan)"
        let unknown = "it is not known which rows are to be sent, so nothing is sent; restore the complete file"
        switch self {
        case .storage(let error): return CampaignError(.results, "\(error)", cause: error)
        case .notOne: return CampaignError(.results, "\(file) is not a plan: \(unknown)")
        case .damaged(let offset): return CampaignError(.results, "\(file) is damaged at byte \(offset): \(unknown)")
        case .foreign: return CampaignError(.results, "\(file) is the plan of another run: \(unknown)")
        case .newer:
            return CampaignError(
                .results,
                "\(file) was written by a newer version of this program, so nothing is sent; resume the run with that version"
            )
        }
    }
}
