import APNSBatch
import APNSBatchBasics

/// The time in which a run is made; it is long if its input is read to its end first: shows how far that is, and ends it on SIGINT
/// and SIGTERM, when nothing was sent.
final class InputReading: Sendable {
    private let output: OutputArguments
    private let spooling = Guarded<InputSpooling?>(nil)
    private let signal = Guarded<String?>(nil)

    init(_ output: OutputArguments) { self.output = output }

    /// Called when an input begins to be read to its end.
    func begin(_ spooling: InputSpooling) {
        self.spooling.withLock { $0 = spooling }
        let text = "reading \(spooling.input) into \(spooling.path) before the first push"
        output.say(text)
        ServiceManager.shared.ready(text)
        Signals.onStop { [signal] name in
            signal.withLock { $0 = name }
            spooling.cancel()
        }
    }

    /// Makes a run on a thread of its own.
    func shown(_ make: @escaping @Sendable () throws -> CampaignRun) async throws -> CampaignRun {
        let display = Task { await follow() }
        do {
            let run = try await CampaignRun.prepare(make)
            await end(display)
            if let spooling = spooling.withLock({ $0 }) {
                output.say("read \(spooling.bytesRead.grouped) bytes of \(spooling.input)")
            }
            return run
        } catch {
            await end(display)
            guard let name = signal.withLock({ $0 }) else { throw error }
            complain("\(name): stopped while the input was read; nothing was sent")
            throw ExitStatus.interrupted
        }
    }

    private func end(_ display: Task<Void, Never>) async {
        display.cancel()
        await display.value
    }

    private func follow() async {
        let console = Console.shared
        let isShown = !output.quiet && !output.noProgress
        let showsBar = isShown && console.showsBar
        let interval: Duration = showsBar ? .milliseconds(250) : .seconds(1)
        var ticks = 0
        while (try? await Task.sleep(for: interval)) != nil {
            guard let spooling = spooling.withLock({ $0 }) else { continue }
            ticks += 1
            ServiceManager.shared.waits()
            let text = "\(spooling.bytesRead.grouped) bytes read"
            if showsBar {
                console.draw(bar: text)
            } else if isShown, ticks % 10 == 0 {
                console.progress(text)
            }
        }
        if showsBar { console.draw(bar: "") }
    }
}
