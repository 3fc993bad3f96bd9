import APNSBatch
import APNSBatchBasics
import ArgumentParser
import Foundation

/// A run that is started, resumed or found complete, as its directory demands. Of several processes that work on one directory,
/// one sends.
struct IdempotentRun {
    var call: CampaignCall
    /// Whether a run is resumed, or its summary shown again; otherwise only a new run is sent.
    var continues = true
    /// How long to wait while another process works on the run, in seconds.
    var patience: UInt64 = 0
    let output: OutputArguments
    /// Whether a run that was finished first has the exit code 2.
    var hadLook = false
    /// Whether standard input or another stream was read, which cannot be read again.
    private var hasReadStream = false

    init(call: CampaignCall, continues: Bool = true, patience: UInt64 = 0, output: OutputArguments) {
        (self.call, self.continues, self.patience, self.output) = (call, continues, patience, output)
    }

    /// What came of an attempt to take the run.
    private enum Attempt {
        case ready(Send.Session)
        /// An earlier run is to be finished before the input is sent.
        case first(Send.Session)
        case complete(CampaignSummary, directory: String)
        /// A complete run whose directory is gone, as the history has it.
        case known(RecordedRun)
        /// Another process is working on the run; the text names it.
        case busy(String)
        /// Another process has begun the run meanwhile.
        case overtaken
    }

    /// Works on the run until it is complete, and throws its exit code; 2 also if a run that was finished first had it.
    mutating func complete() async throws {
        do {
            try await work()
        } catch let status as ExitCode where status == .success && hadLook {
            throw ExitStatus.someRowsLeft
        }
    }

    private mutating func work() async throws {
        let hooks = try beginning { try RunHooks(call) }
        var waiting = try beginning { try StartPatience(call, lock: patience, output) }
        if let damage = (try? call.book()?.damage()) ?? nil { complain("warning: \(damage)") }
        while true {
            let attempt: Attempt
            do {
                attempt = try await self.attempt()
            } catch {
                let failure = error as? Failure ?? Failure(cause: error, call: call)
                if try await waiting.waits(for: failure.cause) { continue }
                throw try await hooks.around { throw refused(failure) }
            }
            switch attempt {
            case .ready(let session) where session.run.wasComplete:
                // Its last process has written the last outcome, but no summary, and has not reported the end.
                throw try await hooks.around {
                    let (summary, directory) = (try await session.run.send(), session.run.directory)
                    RunReporting.write(summary, in: directory, of: session.arguments)
                    session.export?.begin(directory)
                    let end = RunEnd(summary, directory: directory, exitCode: showAgain(summary, directory))
                    return end.exporting(left: await session.export?.end(directory, output) ?? 0)
                }
            case .ready(let session):
                throw try await hooks.around { try await Send.send(session, hooks, output: output) }
            case .first(let session):
                output.say("\(session.run.directory) is not finished: it is finished first")
                let status = try await hooks.around { try await Send.send(session, hooks, output: output) }
                guard [.success, ExitStatus.someRowsLeft].contains(status) else { throw status }
                call.finished.append(session.run.directory)
                hadLook = hadLook || status == ExitStatus.someRowsLeft
            case .complete(let summary, let directory):
                throw try await answer(summary, directory, hooks)
            case .known(let run):
                sayOthers()
                output.say("\(run.runDirectory): this run has been complete since \(run.ended); nothing is sent")
                Output.line(run.verdict)
                throw ExitCode(run.exitCode)
            case .overtaken: continue
            case .busy(let holder): try await waiting.wait(for: holder)
            }
        }
    }

    /// Shows a run that is complete, does what its last process has left of its hooks, and returns its exit code.
    func answer(_ summary: CampaignSummary, _ directory: String, _ hooks: RunHooks) async throws -> ExitCode {
        sayOthers()
        let end = RunEnd(summary, directory: directory, exitCode: showAgain(summary, directory))
        let exported = end.exporting(left: try await RunExport.complete(call, directory, output))
        await hooks.webhooks.finish(exported)
        return exported.exitCode
    }

    /// An error of a call that has its settings from a run directory.
    private struct Failure: Error {
        let cause: any Error
        let call: CampaignCall
    }

    /// Reports a start that sent nothing, adds it to the history, and returns its exit code.
    private func refused(_ failure: Failure) -> any Error {
        do {
            try failure.call.reporting { () throws -> Void in throw failure.cause }
            return failure
        } catch let status as ExitCode {
            RefusedCall(call)?.note(status)
            return status
        } catch {
            return error
        }
    }

    /// Runs `body` before an attempt. An error of it refuses the start.
    private func beginning<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch { throw refused(Failure(cause: error, call: call)) }
    }

    private mutating func attempt() async throws -> Attempt {
        if call.settings.runDir == nil, !continues { return try await begin(call) }
        let place = try RunPlace(of: call)
        guard let book = place.book else {
            guard let opening = place.opening else { return try await begin(call) }
            return try await take(opening, in: place.directory)
        }
        return try await act(on: try book.decision(for: call.askedInput()), book)
    }

    /// Continues the run of a directory, or shows it.
    private mutating func take(_ opening: RunOpening, in directory: String) async throws -> Attempt {
        if opening.isAtWork { return .busy("\(directory): \(RunPlace.worker(of: opening)) is working on this run") }
        if let summary = try CampaignSummary(ofCompleteRunIn: directory) {
            return .complete(summary, directory: directory)
        }
        let resumed = try RunArguments(of: opening).resuming(in: directory, call.flags, campaignFile: call.file?.path)
        return try await begin(resumed, resuming: true)
    }

    private mutating func act(on decision: CampaignBook.Decision, _ book: CampaignBook) async throws -> Attempt {
        guard continues else { return try await actOnNew(decision) }
        switch decision {
        case .send: return try await beginBeside(book)
        case .resume(let path):
            let directory = call.asGiven(path)
            return try await take(try RunOpening(of: directory), in: directory)
        case .answer(let path):
            let directory = call.asGiven(path)
            let run = try book.recorded(in: directory)
            if let complete = complete(directory, run) { return complete }
            // A process may have entered the end of the run, and not yet have left its directory.
            if let opening = (try? RunOpening(ifBegunIn: directory)) ?? nil, opening.isAtWork {
                return try busy(directory)
            }
            if let complete = complete(directory, run) { return complete }
            if let run { return .known(run) }
            throw UsageError("\(directory): the record of this run is gone")
        case .finish(let directory):
            let opening = try RunOpening(of: directory)
            var flags = call.flags
            // Where its rows are kept, input and first row are those of another run by now.
            if opening.keepsRows { flags.values["input"] = nil }
            flags.values["fromRow"] = nil
            do {
                let first = try RunArguments(of: opening).resuming(in: directory, flags, campaignFile: call.file?.path)
                let attempt = try await begin(first, resuming: true)
                if case .ready(let session) = attempt { return .first(session) }
                return attempt
            } catch {
                let cause = (error as? Failure)?.cause ?? error
                guard ExitStatus.of(cause) == ExitStatus.usage else { throw error }
                // What a person must change does not hold up another input.
                complain("warning: \(directory) cannot be finished: \(cause)")
                call.unfinishable.append(directory)
                return .overtaken
            }
        case .busy(let path): return try busy(path)
        case .wait(.absent(let reason)): throw StartRefusal(absent: "\(reason); nothing was sent")
        case .wait, .refuse: throw StartRefusal(decision)
        @unknown default: throw StartRefusal(decision)
        }
    }

    /// The complete run of a directory; nil if there is none, or another run than the recorded one.
    private func complete(_ directory: String, _ run: RecordedRun?) -> Attempt? {
        guard let summary = (try? CampaignSummary(ofCompleteRunIn: directory)) ?? nil,
            run?.began ?? summary.campaign.began == summary.campaign.began
        else { return nil }
        return .complete(summary, directory: directory)
    }

    /// Sends a new run; a run that is there is a reason not to.
    private mutating func actOnNew(_ decision: CampaignBook.Decision) async throws -> Attempt {
        switch decision {
        case .send: return try await begin(call)
        case .busy(let path): return try busy(path)
        default: throw StartRefusal(decision)
        }
    }

    private func busy(_ path: String) throws -> Attempt {
        let worker = RunPlace.worker(of: try RunOpening(ifBegunIn: path))
        return .busy("\(call.asGiven(path)): \(worker) is working on this run")
    }

    /// Begins a run in the directory of this night, or, if that has one, in the next one beside it.
    private mutating func beginBeside(_ book: CampaignBook) async throws -> Attempt {
        guard let directory = call.settings.runDir else { return try await begin(call) }
        let free = try call.correcting.map { try book.nextCorrection(of: $0) } ?? RunPlace.free(directory, book)
        do {
            return try await begin(call.sending(into: free))
        } catch let error as CampaignError {
            // What the input is was known only when it had been read.
            guard let refusal = error.cause as? CampaignBook.Refusal else { throw error }
            return try await act(on: refusal.decision, book)
        }
    }

    private mutating func begin(_ call: CampaignCall, resuming: Bool = false) async throws -> Attempt {
        if !resuming { try takeStream(of: call) }
        do {
            if !resuming { sayOthers() }
            return .ready(try await Send.Session(call, RunArguments(call), resuming: resuming, output))
        } catch let error as CampaignError where error.code == .busy {
            return .busy("\(error)")
        } catch {
            guard !resuming else { throw Failure(cause: error, call: call) }
            guard continues, (error as? CampaignError)?.cause as? CampaignBook.Refusal == nil,
                let directory = call.settings.runDir, (try? RunOpening(ifBegunIn: directory)) != nil
            else { throw error }
            return .overtaken
        }
    }

    /// Throws if the input is a stream that was read before: what comes now are not all of its rows.
    private mutating func takeStream(of call: CampaignCall) throws {
        guard call.settings.readsStream else { return }
        guard !hasReadStream else {
            throw StartRefusal(
                once: "the input was read, and another start came first; nothing was sent: start again with all rows")
        }
        hasReadStream = true
    }

    /// Says which other runs of the campaign are not finished, or at work.
    private func sayOthers() {
        guard let others = try? call.book()?.unfinished() else { return }
        for other in others { output.say("another run of this campaign: \(other.sentence)") }
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
