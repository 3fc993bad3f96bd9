import APNSBatch
import Foundation
import Synchronization

/// Watches the key and certificate files of a run and its campaign file, and reads them again when one has changed or on
/// SIGHUP. Of the campaign file, keys, certificates and ``LiveSettings`` are applied.
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
        /// The other settings that may change, as they were last applied.
        var live: LiveSettings
        /// The stamps when the files were last read.
        var known: [Stamp?]
        /// The stamps at the last check.
        var seen: [Stamp?]
    }

    /// The campaign file is read again too, because it holds the key ids.
    private let campaignFile: String?
    private let call: CampaignCall
    private let state: Mutex<State>

    /// Create it before the files are read, so that a change in between is noticed.
    init(_ call: CampaignCall) throws {
        campaignFile = call.file?.path
        self.call = call
        let providers = try call.settings.providerList()
        let stamps = Self.stamps(campaignFile, providers)
        state = Mutex(
            State(providers: providers, live: try call.settings.live(), known: stamps, seen: stamps))
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
        if !reload(run) { complain("SIGHUP: neither keys and certificates nor settings have changed") }
    }

    /// Returns false if nothing has changed. Files with an error change nothing, and are read again when one changes.
    @discardableResult
    private func reload(_ run: CampaignRun) -> Bool {
        state.withLock { state in
            // Of each file the stamp is taken before it is read, so that a change meanwhile is noticed the next time.
            state.known = Self.stamps(campaignFile, state.providers)
            let ofCampaign = state.known.prefix(campaignFile == nil ? 0 : 1)
            do {
                let call = try call.now()
                let isChanged = changeLive(&state, call, run)
                let providers = try call.settings.providerList()
                // These files are watched from now on, even if they cannot be read yet.
                (state.providers, state.known) = (providers, ofCampaign + Self.stamps(nil, providers))
                let changed = try run.replaceCredentials(try call.settings.read(providers, for: .reloading))
                for number in changed { complain("reloaded: \(providers[number].fileName), new connections use it") }
                return isChanged || !changed.isEmpty
            } catch {
                complain("not reloaded: \(error); connections keep their credentials")
                return true
            }
        }
    }

    /// Applies settings that have changed in the campaign file. Those that follow a wrong one do not change either. Returns
    /// whether there was a message.
    private func changeLive(_ state: inout State, _ call: CampaignCall, _ run: CampaignRun) -> Bool {
        do {
            let live = try call.settings.live()
            guard live != state.live else { return false }
            let earlier = state.live
            state.live = live
            for change in try live.apply(to: run, after: earlier) { complain("changed: \(change)") }
        } catch {
            complain("not changed: \(call.located("\(error)")); the run continues as before")
        }
        return true
    }
}
