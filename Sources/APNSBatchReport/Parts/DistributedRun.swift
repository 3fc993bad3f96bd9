import APNSBatch
import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords

/// A run in parts: the directory of a distributed campaign. It holds `manifest.json`, and an ordinary run directory below `parts` for
/// each part that was begun.
public struct DistributedRun: Sendable {
    /// The absolute path of the directory.
    let directory: String
    let manifest: PartsManifest

    /// Reads the manifest.
    ///
    /// - Returns: Nil if the directory has a ledger, and is therefore that of an ordinary run, or if it has no manifest.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results`` if the manifest is wrong, or cannot be read.
    public init?(ifIn directory: String) throws(CampaignError) {
        let path = RunDirectory.absolute(directory)
        let isRun = !Self.isMissing("\(path)/\(RunDirectory.ledger)")
        guard !isRun, !Self.isMissing("\(path)/\(PartsManifest.name)") else { return nil }
        (self.directory, manifest) = (path, try PartsManifest(of: path))
    }

    /// The first part that was begun and can be read, in whose ledger the settings of the campaign are; nil if there is none.
    public var firstOpening: RunOpening? {
        for part in manifest.parts {
            let path = PartDirectory(part.number, in: directory).path
            if let opening = try? RunOpening(ifBegunIn: path) { return opening }
        }
        return nil
    }

    private static func isMissing(_ path: String) -> Bool {
        do {
            _ = try FileStorage(path, .readOnly)
            return false
        } catch {
            return error.isMissing
        }
    }
}
