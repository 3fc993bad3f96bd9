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
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results`` if the manifest is wrong, or if it is not known whether there is
    ///   one, because this user may not look into the directory.
    public init?(ifIn directory: String) throws(CampaignError) {
        let path = RunDirectory.absolute(directory)
        guard try !Self.has(RunDirectory.ledger, in: path), try Self.has(PartsManifest.name, in: path) else {
            return nil
        }
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
                isBegun: (try? Self.has(RunDirectory.ledger, in: path)) ?? true)
        }
    }

    /// Whether the program that divided the rows is at work, on whatever machine. It begins and resumes parts.
    public var isAtWork: Bool {
        (try? FileStorage("\(directory)/\(Self.lock)", .readOnly).isLocked()) ?? false
    }

    /// The file whose lock that program holds.
    private static let lock = "lock"

    /// The first part that was begun and can be read, in whose ledger the settings of the campaign are; nil if there is none.
    public var firstOpening: RunOpening? {
        for part in manifest.parts {
            let path = PartDirectory(part.number, in: directory).path
            if let opening = try? RunOpening(ifBegunIn: path) { return opening }
        }
        return nil
    }

    /// Whether a directory has a file of this name, which this user may not be allowed to read.
    private static func has(_ name: String, in directory: String) throws(CampaignError) -> Bool {
        guard let error = failure(toOpen: name, in: directory) else { return true }
        if error.isAbsent { return false }
        // Whoever may look into the directory is told that no file has this name.
        if failure(toOpen: ".none", in: directory)?.isAbsent == true { return true }
        throw CampaignError(.results, "\(error)", cause: error)
    }

    private static func failure(toOpen name: String, in directory: String) -> StorageError? {
        do {
            _ = try FileStorage("\(directory)/\(name)", .readOnly)
            return nil
        } catch {
            return error
        }
    }
}
