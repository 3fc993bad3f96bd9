import APNSBatchBasics
import APNSBatchModel
import Glibc

extension RunDirectory {
    /// Throws what ``take(_:)`` would throw, and leaves nothing behind.
    package static func tryTaking(_ wanted: String?) throws(CampaignError) {
        let path = wanted ?? "\(folder)/new"
        guard !path.isEmpty else { throw unnamed }
        if exists(path) {
            let files = DirectoryFiles(path)
            if hasResults(path), !files.hasLedger { throw taken(path) }
            try files.tryMakingLedger()
            guard !hasResults(path) || hasBareResults(path) else { throw taken(path) }
        }
        try CampaignError.mapping(.configuration) {
            try DirectoryTrial(path, mode: mode).attempt { place in
                try confirmWritable(place, as: path)
                try DirectoryTrial.makeFile(in: place, for: "\(path)/\(ledger)")
            }
        }
    }

    /// Throws what opening the ledger of an unfinished run would throw: it cannot be written to, or another process holds its lock; or
    /// what resuming it would throw because of a setting that must not change.
    package static func tryResuming(_ campaign: Campaign, _ directory: String) throws(CampaignError) {
        _ = try DirectoryFiles(directory).openLedger()
        let header = try RunOpening(of: directory).header
        try RunPast.check(digest: CampaignDigest.of(campaign), since: header)
        try RunPast.check(resultColumns: campaign.resultColumns, since: header)
    }
}
