/// Several things that are wrong with a campaign, as the cause of a ``CampaignError``, whose text has all of them.
public struct CampaignFaults: Error, Sendable, Equatable {
    /// What is wrong, each thing once.
    public private(set) var all: [CampaignError] = []

    package init() {}

    /// Runs `body`, and keeps its error.
    package mutating func collect(_ body: () throws(CampaignError) -> Void) {
        do throws(CampaignError) {
            try body()
        } catch {
            if !all.contains(error) { all.append(error) }
        }
    }

    /// Throws an error with all faults, if there are several. A single one is found where the value is needed.
    package func throwSeveral() throws(CampaignError) {
        guard all.count > 1 else { return }
        throw CampaignError(.configuration, all.map(\.description).joined(separator: "; "), cause: self)
    }
}
