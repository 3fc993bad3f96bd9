import APNSBatch
import Foundation
import Synchronization

/// Watches the key and certificate files of a run and its campaign file, and reads them again when one has changed or on
/// SIGHUP. Of the campaign file, keys, certificates and limits of requests per time are applied.
final class CredentialFiles: Sendable {
    /// The attributes by which a change of a file is noticed without reading it.
    private struct Stamp: Equatable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int

        /// Nil if the file does not exist, as may be the case while it is being replaced.
        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            device = UInt64(facts.st_dev)
            inode = UInt64(facts.st_ino)
            size = Int64(facts.st_size)
            (seconds, nanoseconds) = (facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec)
        }
    }

    private struct State {
        var providers: [CampaignSettings]
        /// The limits of requests per time when the campaign file was last read.
        var limit: Campaign.RateLimit
        /// The stamps when the files were last read.
        var known: [Stamp?]
        /// The stamps at the last check.
        var seen: [Stamp?]
    }

    /// The campaign file is read again too, because it holds the key ids.
    private let campaignFile: String?
    private let settings: @Sendable () throws -> CampaignSettings
    private let state: Mutex<State>

    /// Create it before the files are read, so that a change in between is noticed.
    init(_ call: CampaignCall) throws {
        campaignFile = call.file?.path
        settings = { try call.settingsNow() }
        let providers = try call.settings.providerList()
        let stamps = Self.stamps(campaignFile, providers)
        state = Mutex(
            State(providers: providers, limit: try call.settings.rateLimit(), known: stamps, seen: stamps))
    }

    private static func stamps(_ campaignFile: String?, _ providers: [CampaignSettings]) -> [Stamp?] {
        ([campaignFile].compactMap(\.self) + providers.flatMap(\.files)).map { Stamp($0) }
    }

    /// Checks the files twice a second until the task is cancelled. A change counts once two checks in a row agree, so that
    /// a file is not read while it is being written.
    func follow(_ run: CampaignRun) async {
        while (try? await Task.sleep(for: .milliseconds(500))) != nil {
            let isDue = state.withLock { state in
                let stamps = Self.stamps(campaignFile, state.providers)
                defer { state.seen = stamps }
                return stamps != state.known && stamps == state.seen && !stamps.contains(nil)
            }
            if isDue { reload(run) }
        }
    }

    /// Reads the files again at once, because of SIGHUP.
    func reloadNow(_ run: CampaignRun) {
        if !reload(run) { complain("SIGHUP: keys, certificates and limits have not changed") }
    }

    /// Returns false if nothing has changed. Files with an error change nothing, and are read again when one changes.
    @discardableResult
    private func reload(_ run: CampaignRun) -> Bool {
        state.withLock { state in
            state.known = Self.stamps(campaignFile, state.providers)
            let isLimited = changeLimit(&state, run)
            do {
                let settings = try settings()
                let providers = try settings.providerList()
                // These files are watched from now on, even if they cannot be read yet.
                (state.providers, state.known) = (providers, Self.stamps(campaignFile, providers))
                let changed = try run.replaceCredentials(try settings.read(providers, for: .reloading))
                for number in changed { complain("reloaded: \(providers[number].fileName), new connections use it") }
                return isLimited || !changed.isEmpty
            } catch {
                complain("not reloaded: \(error); connections keep their credentials")
                return true
            }
        }
    }

    /// Applies limits that have changed in the campaign file. Limits with an error change nothing. Returns whether there was
    /// something to say.
    private func changeLimit(_ state: inout State, _ run: CampaignRun) -> Bool {
        // A campaign file that cannot be read is reported with the credentials.
        guard let settings = try? settings() else { return false }
        do {
            let limit = try settings.rateLimit()
            guard limit != state.limit else { return false }
            state.limit = limit
            try run.setRateLimit(limit)
            complain("changed: \(limit)")
        } catch {
            complain("not changed: \(campaignFile.map { "\($0): " } ?? "")\(error); the limits stay as they are")
        }
        return true
    }
}
