import APNSBatch
import Foundation
import Synchronization

/// The files of a run's keys and certificates: looked at while the run goes on, and read again when one has changed or
/// SIGHUP asks for it.
final class CredentialFiles: Sendable {
    /// What tells one state of a file from another without reading it.
    private struct Stamp: Equatable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int

        /// Nil while there is no such file, as in the middle of a replacement.
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
        /// When the files were read.
        var known: [Stamp?]
        /// At the last look.
        var seen: [Stamp?]
    }

    /// Says which key is whose; another key has another id, so it is read again too.
    private let campaignFile: String?
    private let settings: @Sendable () throws -> CampaignSettings
    private let state: Mutex<State>

    /// Make it before the files are read: what changes in between is then read again.
    init(_ call: CampaignCall) throws {
        campaignFile = call.file?.path
        settings = { try call.settingsNow() }
        let providers = try call.settings.providerList()
        let stamps = Self.stamps(campaignFile, providers)
        state = Mutex(State(providers: providers, known: stamps, seen: stamps))
    }

    private static func stamps(_ campaignFile: String?, _ providers: [CampaignSettings]) -> [Stamp?] {
        ([campaignFile].compactMap(\.self) + providers.flatMap(\.files)).map { Stamp($0) }
    }

    /// Looks twice a second until the task is cancelled. A change counts when it has stood for one look, so that files
    /// that are just being written are left alone.
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

    /// SIGHUP.
    func reloadNow(_ run: CampaignRun) {
        if !reload(run) { complain("SIGHUP: keys and certificates have not changed") }
    }

    /// False when nothing differs. What is wrong changes nothing, and is not tried again until a file changes.
    @discardableResult
    private func reload(_ run: CampaignRun) -> Bool {
        state.withLock { state in
            state.known = Self.stamps(campaignFile, state.providers)
            do {
                let settings = try settings()
                let providers = try settings.providerList()
                // From now on, also if they cannot be read yet.
                (state.providers, state.known) = (providers, Self.stamps(campaignFile, providers))
                let changed = try run.replaceCredentials(try settings.read(providers, for: .reloading))
                for number in changed { complain("reloaded: \(providers[number].fileName), new connections use it") }
                return !changed.isEmpty
            } catch {
                complain("not reloaded: \(error); connections keep what they have")
                return true
            }
        }
    }
}
