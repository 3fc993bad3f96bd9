import APNSBatch
import APNSBatchBasics
import ArgumentParser
import Foundation

/// Tries everything that `run` needs before its first push, by the code of `run`, and leaves nothing behind. All problems are found in one
/// pass, each with the exit code that `run` would have.
final class Preflight {
    /// Where settings come from that the campaign file does not have.
    enum Scope {
        /// The call has all flags of `run`.
        case call
        /// The call has only the campaign file: what it leaves to flags is not tried.
        case file
    }

    private let call: CampaignCall
    private let scope: Scope
    private let tell: (TrialFinding) -> Void
    private var findings: [TrialFinding] = []
    /// The campaign as it would be sent, or without credentials if only these are wrong; nil if another setting is.
    private(set) var campaign: Campaign?
    /// The campaign as far as its settings can be used, for what does not need all of them.
    private var usable: Campaign?
    /// Whether all settings and their files can be used.
    private var isComplete = false
    private(set) var input: CampaignInput?
    /// The number of rows, if it is known without a check of them.
    private var knownRows: UInt64?
    /// Whether the input is known not to be there yet.
    private var isInputAbsent = false
    /// Whether a start would wait for another input.
    private var isWaiting = false
    /// Whether the start would begin no run of the input: it would continue one, whose rows were judged when it began, or send nothing.
    private var beginsNothing = false

    private enum Outcome {
        case fine(String)
        case doubtful(String, cure: String)
    }

    init(_ call: CampaignCall, _ scope: Scope, tell: @escaping (TrialFinding) -> Void) {
        (self.call, self.scope, self.tell) = (call, scope, tell)
    }

    private var settings: CampaignSettings { call.settings }

    // MARK: The parts

    /// Tries all parts but the rows, what depends on their number, and the server.
    func tryStart() {
        trySettings()
        tryWatchers()
        tryPrograms()
        attempt("results_to", cure: "docs/integrate/postgresql.md describes the table") { try self.resultsTable() }
        tryHistory()
        if isGiven("runDir"), isGiven("to"), isGiven("input") { tryRun() }
        attempt("rate_shared") {
            guard let campaign = self.campaign, let path = campaign.sharedRatePath else { return nil }
            try CampaignTrial(campaign).sharedRate()
            return .fine("\(path) can be used")
        }
        if isGiven("input") { tryInput() }
    }

    private func trySettings() {
        attempt("settings") {
            let simulator = try EmbeddedSimulator.ifWanted(self.settings)
            defer { simulator?.stop() }
            if simulator == nil { _ = try CredentialFiles(self.call) }
            self.campaign = try self.call.campaign(RunArguments(self.call), simulator: simulator)
            self.isComplete = true
            return .fine("the credentials and all files that the campaign names can be read")
        }
        if !isComplete, settings.to != "simulator" {
            campaign = try? call.campaign(RunArguments(call), simulator: nil, for: .accounting)
        }
        usable = campaign ?? call.usableCampaign
    }

    /// The receivers of reports about the run.
    private func tryWatchers() {
        attempt("webhooks") {
            guard let endpoints = self.settings.values["webhooks"]?.list, !endpoints.isEmpty else { return nil }
            _ = try RunWebhooks(self.call)
            return .fine(
                "the files of \(endpoints.count == 1 ? "1 endpoint" : "\(endpoints.count) endpoints") can be read")
        }
        attempt("ping_url_file") { try RunHooks.monitor(of: self.settings).map { _ in .fine("it holds a URL") } }
        attempt("metrics_textfile", cure: "make the directory, or name another file") {
            guard let place = self.settings.metricsTextfile else { return nil }
            _ = try MetricsPublisher(self.call)
            return .fine("\(place) can be written")
        }
        attempt("metrics_listen", cure: "end the other process, or name another port") {
            guard let address = self.settings.metricsListen.flatMap(ListeningAddress.init) else { return nil }
            try MetricsEndpoint.attempt(at: address)
            return .fine("\(address.url(port: address.port)) is free")
        }
    }

    private func tryPrograms() {
        attempt("on_complete") {
            guard let program = try RunHooks.program(of: self.settings)?.arguments.first else { return nil }
            return self.found(program, "it could not be started at the end", "install it, or name it by its whole path")
        }
        attempt("curl") {
            guard self.settings.pingUrlFile != nil || self.settings.values["webhooks"] != nil else { return nil }
            return self.found("curl", "no request to a monitor or a webhook could be made", "install curl")
        }
    }

    private func found(_ program: String, _ consequence: String, _ cure: String) -> Outcome {
        guard let obstacle = ProgramSearch.obstacle(to: program) else { return .fine("\(program) is there") }
        return .doubtful("\(program) \(obstacle): \(consequence)", cure: cure)
    }

    private func resultsTable() throws -> Outcome? {
        guard let export = try RunExport(settings, campaign: call.name) else { return nil }
        let columns = campaign?.resultColumns ?? []
        guard let doubt = try export.doubt(columns: columns) else { return .fine("the table takes results") }
        return .doubtful(doubt, cure: "the run would begin, and results would follow as soon as they can")
    }

    private func tryHistory() {
        attempt("state_dir", cure: "give this user the right to write there, or name another directory") {
            guard let campaign = self.usable,
                let directory = campaign.stateDirectory ?? campaign.book?.directory
            else { return nil }
            try CampaignTrial(campaign).history()
            if let book = try? self.call.book(), let damage = try book.damage() {
                return .doubtful(damage, cure: "correct or remove the line")
            }
            return .fine("the history in \(directory) can be written")
        }
    }

    private func tryRun() {
        guard let campaign else { return tryDirectory() }
        attempt("run_dir") { .fine(try self.outlook(campaign)) }
        // What is waited for needs a directory, too.
        if isWaiting { tryDirectory() }
    }

    /// Tries whether the directory of this night can be made, if it has no run.
    private func tryDirectory() {
        attempt("run_dir") {
            guard var campaign = self.usable, let directory = self.settings.runDir,
                (try? RunOpening(ifBegunIn: directory) == nil) ?? false
            else { return nil }
            campaign.runDirectory = directory
            try CampaignTrial(campaign).runDirectory()
            return .fine("\(directory) can be written")
        }
    }

    /// Opens the input. The rows are read by a check, or not at all.
    private func tryInput() {
        attempt("input") {
            let input = try self.call.askedInput()
            self.input = input
            guard var campaign = self.campaign else { return try self.presence(of: input) }
            if !self.isInputAbsent { try CampaignTrial(campaign).freshness(of: input) }
            guard self.scope == .file, self.isComplete, !self.isInputAbsent || Self.isThere(input) else { return nil }
            // Its age was judged before.
            campaign.inputAgeLimit = nil
            return try self.look(at: input, campaign)
        }
        if let rows = knownRows { tryRoom(for: rows, sent: rows) }
    }

    /// Throws if the input of a campaign that cannot be sent is not there, or too old.
    private func presence(of input: CampaignInput) throws -> Outcome? {
        guard let usable, let book = try CampaignBook(usable) else { return nil }
        guard case .wait(.absent(let reason)) = try book.outlook(for: input) else { return nil }
        isInputAbsent = true
        throw StartRefusal(absent: reason)
    }

    /// Whether an input that is too old is there.
    private static func isThere(_ input: CampaignInput) -> Bool {
        if case .file(let path) = input { access(path, F_OK) == 0 } else { false }
    }

    private func look(at input: CampaignInput, _ campaign: Campaign) throws -> Outcome {
        if case .program(let arguments, _, _) = input, let program = arguments.first {
            if let obstacle = ProgramSearch.obstacle(to: program) {
                throw UsageError("input_command: \(program) \(obstacle)")
            }
            return .fine("\(program) is there, and was not started: check --everything does")
        }
        guard let rows = try CampaignTrial(campaign).rows(of: input) else {
            return .fine("it was not read: check --everything does")
        }
        knownRows = rows.count
        return .fine("\(rows.isEstimate ? "about " : "")\(rows.count.grouped) rows, which check looks at")
    }

    // MARK: Rows

    /// Tries what depends on the number of rows.
    ///
    /// - Parameter sent: The number of those that are not left out.
    func tryRoom(for rows: UInt64, sent: UInt64) {
        guard let campaign, let input else { return }
        attempt("disk") {
            guard !self.beginsNothing, let room = try CampaignTrial(campaign).room(for: rows, of: input) else {
                return nil
            }
            return .fine("\(rows.grouped) rows need \(room.needed.grouped) bytes, and \(room.free.grouped) are free")
        }
        attempt("time") {
            let trial = CampaignTrial(campaign)
            if self.scope == .file, let late = try trial.lateness(of: sent) {
                return .doubtful(late.message, cure: "raise the rate, or move not_after")
            }
            guard let time = trial.time(for: sent) else { return .fine("no rate is given: as fast as APNs answers") }
            return .fine(
                "\(sent.grouped) rows take at least \(ElapsedTime.text(time / .seconds(1))), by \(campaign.rateLimit)")
        }
    }

    /// Adds what a check of the rows has found.
    func note(_ report: CheckReport) {
        guard report.isComplete else { return }
        if report.isBroken {
            var finding = TrialFinding(.error, "input", "no row can be sent: the campaign or a template breaks a rule")
            finding.code = ExitStatus.usage
            return add(finding)
        }
        if !beginsNothing, let refusal = report.refusal { attempt("input") { throw refusal } }
        let bad = report.rowsWithErrors
        let text = "\(report.rows.grouped) rows, of which \(bad.grouped) would not be sent"
        add(TrialFinding(isAsExpected(report) && report.rows > report.rowsNotSelected ? .ok : .warning, "input", text))
    }

    private func isAsExpected(_ report: CheckReport) -> Bool {
        guard report.rowsWithErrors > 0, let campaign else { return report.isClean }
        let trial = CampaignTrial(campaign)
        let isAllowed = try? trial.allows(
            invalid: report.rowsWithErrors, of: report.rows, suppressed: report.rowsNotSelected)
        return isAllowed ?? false
    }

    /// Adds that the rows cannot be checked.
    func note(unchecked error: CampaignError) {
        // It was reported that the input is not there.
        if isInputAbsent, error.code == .input, !(input.map(Self.isThere) ?? false) { return }
        attempt("input") { throw error }
    }

    // MARK: The server

    /// Examines the server of the campaign, and whether it takes the credentials.
    func tryServer() async {
        // What is wrong with the settings was reported before. The simulator in this process is no server before a run begins.
        guard settings.to != "simulator", var doctor = try? Doctor(of: settings) else { return }
        doctor.asksForCredentials = true
        await tryServer(doctor)
    }

    func tryServer(_ doctor: Doctor?) async {
        guard var doctor else { return }
        // The reasons for files that cannot be used were reported.
        if doctor.asksForCredentials, !isComplete { doctor.credentials = [] }
        _ = await doctor.examine { add(TrialFinding($0)) }
    }

    // MARK: The end

    /// The exit code that `run` would have by what was found.
    var code: ExitCode { ExitStatus.worst(findings.map(\.code)) }

    /// Adds the closing line, and returns the exit code that `run` would have.
    @discardableResult
    func close() -> ExitCode {
        let code = code
        let (errors, warnings) = (count(.error), count(.warning))
        let parts = Set(findings.map(\.what)).count
        let counts = "\(parts) parts were tried: \(Self.text(errors, "error")), \(Self.text(warnings, "warning"))"
        if errors > 0 {
            add(TrialFinding(.error, "run", "would end with exit code \(code.rawValue); \(counts)"))
        } else {
            add(TrialFinding(.ok, "run", "can begin; \(counts)"))
        }
        return code
    }

    private func count(_ level: Doctor.Finding.Level) -> Int { findings.count { $0.level == level } }

    private static func text(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private func add(_ finding: TrialFinding) {
        findings.append(finding)
        tell(finding)
    }

    /// - Parameter body: Returns nil if there is nothing to try.
    private func attempt(_ what: String, cure: String? = nil, _ body: () throws -> Outcome?) {
        do {
            switch try body() {
            case nil: break
            case .fine(let text)?: add(TrialFinding(.ok, what, text))
            case .doubtful(let text, let cure)?: add(TrialFinding(.warning, what, text, remedy: cure))
            }
        } catch {
            for finding in TrialFinding.all(of: error, what, cure, call.located) { add(finding) }
        }
    }

    /// Whether a setting is to be tried, because the call has all that `run` would have, or because it is given.
    private func isGiven(_ name: String) -> Bool {
        guard scope == .file else { return true }
        let names = name == "input" ? ["input", "inputCommand", "inputQuery"] : [name]
        return names.contains { call.file?.settings.values[$0] != nil }
    }

    // MARK: What a start would do

    /// Says what a start would do with its run directory, or throws what the start would throw.
    private func outlook(_ campaign: Campaign) throws -> String {
        let place = try RunPlace(of: call)
        guard let book = place.book else {
            guard let opening = place.opening else { return try beginning(in: place.directory) }
            return try continuing(opening, in: place.directory)
        }
        let decision = try book.outlook(for: call.askedInput())
        if case .wait = decision { isWaiting = true }
        switch decision {
        case .send: return try beginning(in: RunPlace.free(place.directory, book))
        case .resume(let path): return try continuing(RunOpening(of: path), in: call.asGiven(path))
        case .finish(let path): return "\(path) is not finished, and would be finished first"
        case .answer(let path):
            beginsNothing = true
            return "\(call.asGiven(path)) has sent this input: nothing would be sent"
        case .busy(let path): throw StartRefusal(once: busy(path))
        case .wait(.absent(let reason)):
            isInputAbsent = true
            throw StartRefusal(absent: reason)
        default: throw StartRefusal(decision)
        }
    }

    private func busy(_ path: String) -> String {
        let worker = RunPlace.worker(of: (try? RunOpening(ifBegunIn: path)) ?? nil)
        return "\(call.asGiven(path)): \(worker) is working on this run"
    }

    private func beginning(in directory: String) throws -> String {
        campaign?.runDirectory = directory
        if let campaign { try CampaignTrial(campaign).runDirectory() }
        return "\(directory) can be written, and would get the run"
    }

    private func continuing(_ opening: RunOpening, in directory: String) throws -> String {
        if opening.isAtWork { throw StartRefusal(once: busy(directory)) }
        beginsNothing = true
        if try CampaignSummary(ofCompleteRunIn: directory) != nil {
            return "\(directory) holds a complete run: nothing would be sent"
        }
        campaign?.runDirectory = directory
        if let campaign { try CampaignTrial(campaign).resumption() }
        return "\(directory) holds an unfinished run, which would be continued"
    }
}
