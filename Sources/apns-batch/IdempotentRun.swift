import APNSBatch
import ArgumentParser
import Foundation

/// A run that is started, resumed or found complete, as its directory demands. Of several processes that work on one directory,
/// one sends.
struct IdempotentRun {
    let flags: CampaignSettings
    let campaignFile: String?
    /// How long to wait while another process works on the run, in seconds.
    var patience: UInt64 = 0
    let output: OutputArguments

    /// What came of an attempt to take the run.
    private enum Attempt {
        case ready(Send.Session)
        case complete(CampaignSummary)
        /// Another process is working on the run, as the text says.
        case busy(String)
        /// Another process has begun the run meanwhile.
        case overtaken
    }

    /// Works on the run until it is complete, and throws its exit code.
    func complete() async throws {
        let call = try reporting { try CampaignCall(flags: flags, file: campaignFile) }
        let hooks = try call.reporting { try RunHooks(call) }
        let deadline = ContinuousClock.now + .seconds(patience)
        var isWaiting = false
        while true {
            switch try await attempt(call, telling: hooks) {
            case .ready(let session) where session.run.wasComplete:
                // Its last process has written the last outcome, but no summary, and told nobody of the end.
                throw try await hooks.around {
                    let (summary, directory) = (try await session.run.send(), session.run.directory)
                    RunReporting.write(summary, in: directory, of: session.arguments)
                    session.export?.begin(directory)
                    let end = RunEnd(summary, directory: directory, exitCode: showAgain(summary, directory))
                    return end.exporting(left: await session.export?.end(directory, output) ?? 0)
                }
            case .ready(let session):
                throw try await hooks.around { try await Send.send(session, hooks, output: output) }
            case .complete(let summary):
                let directory = call.settings.runDir ?? ""
                let end = RunEnd(summary, directory: directory, exitCode: showAgain(summary, directory))
                let exported = end.exporting(left: try await RunExport.complete(call, directory, output))
                await hooks.webhooks.finish(exported)
                throw exported.exitCode
            case .overtaken: continue
            case .busy(let holder):
                guard ContinuousClock.now < deadline else {
                    complainOfFailure(holder)
                    throw ExitStatus.interrupted
                }
                if !isWaiting {
                    output.say("\(holder); waiting for its end, up to \(patience) seconds")
                    ServiceManager.shared.ready("\(holder); waiting for its end")
                }
                isWaiting = true
                ServiceManager.shared.waits()
                // SIGINT and SIGTERM end the process here: they have no handler before a run begins.
                try await Task.sleep(for: .milliseconds(500))
            }
        }
    }

    /// Tells the hooks if the run cannot begin.
    private func attempt(_ call: CampaignCall, telling hooks: RunHooks) async throws -> Attempt {
        do {
            return try await reporting(call.located) { try await attempt(call) }
        } catch let status as ExitCode {
            throw try await hooks.around { throw status }
        }
    }

    private func attempt(_ call: CampaignCall) async throws -> Attempt {
        guard let directory = call.settings.runDir else {
            throw UsageError("no run directory: give run_dir, such as runs/{campaign}/{date}")
        }
        guard let opening = try RunOpening(ifBegunIn: directory) else {
            return try await begin(call, resuming: false, in: directory)
        }
        let before = try RunArguments(of: opening)
        try refuseOther(before, than: call, in: directory)
        if opening.isAtWork { return .busy("\(directory): \(Self.worker(of: opening)) is working on this run") }
        if let summary = try CampaignSummary(ofCompleteRunIn: directory) { return .complete(summary) }
        let resumed = try before.resuming(in: directory, flags, campaignFile: campaignFile)
        return try await resumed.reporting { try await begin(resumed, resuming: true, in: directory) }
    }

    private func begin(_ call: CampaignCall, resuming: Bool, in directory: String) async throws -> Attempt {
        do {
            return .ready(try await Send.Session(call, RunArguments(call), resuming: resuming, output))
        } catch let error as CampaignError where error.code == .busy {
            return .busy("\(error)")
        } catch {
            guard !resuming, (try? RunOpening(ifBegunIn: directory)) != nil else { throw error }
            return .overtaken
        }
    }

    /// Throws if the run in the directory is that of another campaign. Campaigns are told apart by their names, because the
    /// file of a campaign may move.
    private func refuseOther(_ before: RunArguments, than call: CampaignCall, in directory: String) throws {
        if before.isBroadcast {
            throw UsageError("run directory: \(directory) holds a broadcast; continue it with resume")
        }
        let (its, own) = (try before.name, call.name)
        guard its != own else { return }
        throw UsageError(
            "run directory: \(directory) holds a run of \(Self.shown(its)), and this is \(Self.shown(own)); name another "
                + "directory, or continue that run with resume")
    }

    private static func worker(of run: RunOpening) -> String { run.worker.map { "process \($0)" } ?? "another process" }

    private static func shown(_ name: String?) -> String {
        name.map { "the campaign \"\($0)\"" } ?? "a campaign without a name"
    }

    /// Prints the summary of a run that was complete before, and returns its exit code.
    private func showAgain(_ summary: CampaignSummary, _ directory: String) -> ExitCode {
        guard summary.ending == .complete else {
            complainOfFailure(summary.cause ?? "the run could not be read")
            return ExitCode(summary.exitCode)
        }
        ServiceManager.shared.ready(summary.verdict)
        output.say("\(directory): this run has been complete since \(summary.campaign.ended); nothing is sent")
        return ExitStatus.of(summary, isPrinted: output.show(summary, directory: directory, already: true))
    }
}
