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
        /// When the files were read.
        var known: [Stamp?]
        /// At the last look.
        var seen: [Stamp?]
    }

    private let providers: [ProviderSettings]
    private let files: [String]
    private let state: Mutex<State>

    /// Make it before the files are read: what changes in between is then read again.
    init(_ providers: [ProviderSettings]) {
        self.providers = providers
        files = providers.flatMap(\.files)
        let stamps = files.map { Stamp($0) }
        state = Mutex(State(known: stamps, seen: stamps))
    }

    /// Looks twice a second until the task is cancelled. A change counts when it has stood for one look, so that a file
    /// that is just being written is left alone.
    func follow(_ run: CampaignRun) async {
        while (try? await Task.sleep(for: .milliseconds(500))) != nil {
            let stamps = files.map { Stamp($0) }
            let isDue = state.withLock { state in
                defer { state.seen = stamps }
                return stamps != state.known && stamps == state.seen && !stamps.contains(nil)
            }
            if isDue { reload(run) }
        }
    }

    /// SIGHUP.
    func reloadNow(_ run: CampaignRun) {
        guard !files.isEmpty else { return complain("SIGHUP: no key or certificate files to read again") }
        if !reload(run) { complain("SIGHUP: keys and certificates are as they were") }
    }

    /// False when nothing differs. What is wrong changes nothing, and is not tried again until a file changes.
    @discardableResult
    private func reload(_ run: CampaignRun) -> Bool {
        let stamps = files.map { Stamp($0) }
        defer { state.withLock { $0.known = stamps } }
        do {
            let changed = try run.replaceCredentials(try CampaignSettings.read(providers))
            for number in changed { complain("reloaded: \(providers[number].fileName), new connections use it") }
            return !changed.isEmpty
        } catch {
            complain("not reloaded: \(error); connections stay as they are")
            return true
        }
    }
}
