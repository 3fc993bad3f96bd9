/// The source of the rows of a campaign. Later versions may add cases.
@nonexhaustive
public enum CampaignInput: Sendable, Equatable {
    /// A CSV file, given by its path.
    case file(String)
    /// Standard input. A run that reads it cannot be resumed, and has no ``CampaignProgress/bytesTotal`` unless standard
    /// input is a file.
    case standardInput
}
