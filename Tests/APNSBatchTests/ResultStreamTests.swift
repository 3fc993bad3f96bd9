import APNSBatchSending
import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Results as a stream") struct ResultStreamTests {
    private static func rows(_ count: Int) -> String {
        "token,id,payload\n"
            + (0..<count).map { row in
                let given = row % 7 == 3 ? "not a token" : token(row)
                return "\(given),u-\(row),\"{\"\"aps\"\":{\"\"alert\"\":\"\"Hi\"\"}}\"\n"
            }.joined()
    }

    private static func campaign(_ stage: Stage, rows count: Int) throws -> StagedCampaign {
        var campaign = try stage.campaign(rows: rows(count))
        campaign.resultColumns = ["id"]
        campaign.lanes = 1
        return campaign
    }

    /// A run with batches of 64 outcomes.
    private static func run(_ campaign: StagedCampaign) throws -> CampaignRun {
        var surroundings = Surroundings.system
        surroundings.outcomesPerBatch = 64
        return try CampaignRun(campaign, surroundings: surroundings)
    }

    /// The line of `results.csv` that a result should have. No field of these tests needs quotes, except causes.
    private static func line(_ result: RowResult) -> [String] {
        [
            "\(result.row)", result.token, "\(result.outcome.name)", result.status.map(String.init) ?? "",
            result.outcome == .invalid ? "" : result.reason ?? "", result.inactiveSince.map(String.init) ?? "",
            result.messageID ?? "", "\(result.attempts)", result.uniqueID ?? "",
        ] + result.columns
    }

    private static func lines(_ stage: Stage, _ run: CampaignRun) throws -> Set<[String]> {
        let text = try String(contentsOfFile: run.directory + "/results.csv", encoding: .utf8)
        return Set(
            text.split(separator: "\n").dropFirst().map { line in
                var fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                if fields[2] == "invalid" { fields[4..<(fields.count - 5)] = [""] }
                return fields
            })
    }

    @Test func `each row has one result, which agrees with its line in results.csv`() async throws {
        let script = SimulatorScript(
            seed: 5,
            rules: [
                SimulatorRule(share: 0.2, status: 410, reason: "Unregistered", timestamp: 1_700_000_000_000),
                SimulatorRule(share: 0.1, status: 503, reason: "ServiceUnavailable", times: 1),
            ])
        let stage = try Stage(script: script)
        var campaign = try Self.campaign(stage, rows: 3000)
        campaign.retryDelay = .milliseconds(5)
        let run = try CampaignRun(campaign)
        let results = run.makeResults()
        async let summary = run.send()
        var lines: [[String]] = []
        for await batch in results {
            for result in batch {
                lines.append(Self.line(result))
                switch result.arrival {
                case .answered: #expect(result.answerTime ?? .zero > .zero && result.status != nil)
                default: #expect(result.answerTime == nil && result.status == nil && result.messageID == nil)
                }
                if result.outcome == .invalid { #expect(result.reason?.contains("rows.csv:") == true) }
            }
        }
        #expect(try await summary.rows == 3000)
        #expect(lines.count == 3000)
        #expect(try Set(lines) == Self.lines(stage, run))
    }

    @Test func `a program that takes no results holds up the run, and nothing is dropped`() async throws {
        let stage = try Stage()
        let run = try Self.run(try Self.campaign(stage, rows: 3000))
        var results = run.makeResults(buffering: 2).makeAsyncIterator()
        async let summary = run.send()
        await eventually { run.progress.heldBackBy == .writer }
        // At most five full batches; on a slow machine batches are passed on before they are full.
        let sent = run.progress.accepted + run.progress.invalid
        #expect(sent > 0 && sent <= 5 * 64)
        var rows: Set<UInt64> = []
        while let batch = await results.next() { rows.formUnion(batch.map(\.row)) }
        #expect(rows.count == 3000)
        #expect(try await summary.rows == 3000)
    }

    @Test(arguments: ["releases the sequence", "leaves the loop", "is cancelled"])
    func `the run goes on when the program`(what: String) async throws {
        let stage = try Stage()
        let run = try Self.run(try Self.campaign(stage, rows: 1500))
        var results: CampaignResults? = run.makeResults(buffering: 1)
        switch what {
        case "releases the sequence": results = nil
        case "leaves the loop":
            let consumer = Task { [results] in
                for await batch in results! where !batch.isEmpty { break }
            }
            results = nil
            async let summary = run.send()
            await consumer.value
            #expect(try await summary.rows == 1500)
            return
        default:
            let consumer = Task { [results] in for await _ in results! { try? await Task.sleep(for: .seconds(3600)) } }
            async let summary = run.send()
            await eventually {
                run.progress.accepted > 0
            } then: {
                consumer.cancel()
            }
            await consumer.value
            #expect(try await summary.rows == 1500)
            return
        }
        #expect(try await run.send().rows == 1500)
    }

    @Test func `results can be taken after the run`() async throws {
        let stage = try Stage()
        let run = try CampaignRun(try Self.campaign(stage, rows: 100))
        let results = run.makeResults()
        #expect(try await run.send().rows == 100)
        var count = 0
        for await batch in results { count += batch.count }
        #expect(count == 100)
        for await _ in run.makeResults() { Issue.record("the run has ended") }
    }
}
