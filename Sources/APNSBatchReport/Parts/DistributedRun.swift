import APNSBatch
import APNSBatchBasics
import APNSBatchModel
import APNSBatchRecords

/// A run in parts: the directory of a distributed campaign. It holds `manifest.json`, and an ordinary run directory below `parts` for
/// each part that was begun.
public struct DistributedRun: Sendable {
    /// The absolute path of the directory.
    public let directory: String
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

    /// A part, and where its run is.
    public struct Part: Sendable, Equatable {
        /// Its number, from 0.
        public let number: Int
        /// The number of its rows, as the manifest has it.
        public let rows: UInt64
        /// The absolute path of its run directory.
        public let directory: String
        /// Whether a run of it was begun there.
        public let isBegun: Bool
    }

    /// The parts in the order of their numbers. Their directories are looked at anew each time.
    public var parts: [Part] {
        manifest.parts.map { part in
            let path = RunReport.PartLine.directory(of: part.number, in: directory)
            return Part(
                number: part.number, rows: part.rows, directory: path,
                isBegun: !Self.isMissing("\(path)/\(RunDirectory.ledger)"))
        }
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
