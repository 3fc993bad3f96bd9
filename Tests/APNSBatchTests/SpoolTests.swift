import APNSBatchBasics
import APNSBatchRows
import APNSBatchSending
import APNSBatchSimulator
import Foundation
import Synchronization
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Rows of a program that are kept") struct SpoolTests {
    private struct User: CampaignRow, Sendable {
        var number: Int
        var name = "somebody"

        static let columns = ["token", "name"]

        func encode(into row: inout RowEncoder) {
            row.append(token(number))
            row.append(name)
        }
    }

    private static func campaign(_ stage: Stage, in directory: String = "run") throws -> Campaign {
        var campaign = try stage.campaign(rows: "").campaign
        campaign.template = .init(json: Array(#"{"aps":{"alert":"Hello {{name}}"}}"#.utf8), name: "t.json")
        campaign.lanes = 1
        campaign.runDirectory = stage.directory.appending(path: directory).path
        return campaign
    }

    private typealias Rows = @Sendable (inout RowWriter) async throws -> Void

    private static func run(
        _ campaign: Campaign, _ resuming: CampaignRun.Resuming = .ifStarted, spool: CampaignRun.Spool = .runDirectory,
        rows: @escaping Rows
    ) throws -> CampaignRun {
        try CampaignRun(campaign, columns: User.columns, spool: spool, resuming: resuming, rows: rows)
    }

    /// Writes users with these numbers.
    private static func users(_ numbers: Range<Int>, named name: String = "somebody") -> Rows {
        { writer in for number in numbers { try await writer.write(User(number: number, name: name)) } }
    }

    /// Runs a campaign of endless rows, and stops it when some hundred were accepted. Returns the number of rows that were sent.
    private static func interrupted(_ campaign: Campaign, atOnce: Bool = false) async throws -> UInt64 {
        let run = try run(campaign, rows: users(0..<1_000_000))
        async let summary = run.send()
        await eventually {
            run.progress.accepted >= 300
        } then: {
            if atOnce { run.stopAtOnce() } else { run.stop() }
        }
        #expect(try await summary.ending == .interrupted)
        return try await summary.accepted
    }

    /// Sends some of the rows, and stops. A busy machine has seconds to stop before the last of 35 rows is sent.
    private static func slow(_ campaign: Campaign, rows: @escaping Rows) async throws -> CampaignSummary {
        var campaign = campaign
        campaign.rateLimit = .init(rate: .init(8, per: .second))
        let run = try run(campaign, rows: rows)
        async let summary = run.send()
        await eventually {
            run.progress.accepted >= 9
        } then: {
            run.stop()
        }
        return try await summary
    }

    private static func spool(_ campaign: Campaign) -> String { "\(campaign.runDirectory ?? "")/rows.spool" }

    private static func length(_ campaign: Campaign) throws -> Int {
        let bytes = try FileManager.default.attributesOfItem(atPath: spool(campaign))[.size] as? Int
        return try #require(bytes)
    }

    @Test(arguments: [false, true])
    func `a program that makes its rows again sends each once`(atOnce: Bool) async throws {
        let stage = try Stage()
        var campaign = try Self.campaign(stage)
        campaign.onUnknown = .report
        let first = try await Self.interrupted(campaign, atOnce: atOnce)
        let taken = try RunStatus(of: campaign.runDirectory ?? "").rowsRead
        let total = Int(taken) + 5000
        let summary = try await Self.run(campaign, rows: Self.users(0..<total)).send()
        #expect(summary.ending == .complete && summary.rows == UInt64(total), "\(summary)")
        #expect(summary.accepted >= first && summary.accepted + summary.unknown == UInt64(total))
        #expect(atOnce || summary.unknown == 0)
        let results = try String(contentsOfFile: "\(campaign.runDirectory ?? "")/results.csv", encoding: .utf8)
        let tokens = results.split(separator: "\n").dropFirst().map { $0.split(separator: ",")[1] }
        #expect(Set(tokens).count == total && tokens.count == total)
        let counts = stage.simulator.stop()
        #expect(counts.requests <= total && counts.requests >= summary.accepted)
        #expect(!FileManager.default.fileExists(atPath: Self.spool(campaign)))
    }

    @Test func `other rows than before are refused, and the row is named`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        _ = try await Self.interrupted(campaign)
        let run = try Self.run(campaign) { writer in
            for number in 0..<1000 {
                try await writer.write(User(number: number, name: number == 171 ? "nobody" : "somebody"))
            }
        }
        let summary = try await run.send()
        #expect(summary.ending == .failed && run.failure?.code == .configuration)
        #expect(
            run.failure?.description == "<rows>: row 172 is not the one that was taken before the run was interrupted")
    }

    @Test func `fewer rows than before are refused, and the first missing one is named`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        _ = try await Self.interrupted(campaign)
        let run = try Self.run(campaign, rows: Self.users(0..<200))
        #expect(try await run.send().ending == .failed)
        #expect(
            run.failure?.description == "<rows>: row 201 is not the one that was taken before the run was interrupted")
    }

    @Test func `other columns than before are refused before anything is sent`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        _ = try await Self.interrupted(campaign)
        #expect {
            try CampaignRun(campaign, columns: ["token", "name", "badge"], resuming: .always) { _ in }
        } throws: {
            "\($0)" == "<rows>: the input changed: it has other columns"
        }
    }

    @Test func `a program may begin behind the rows that were taken`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        _ = try await Self.interrupted(campaign)
        let taken = Mutex<UInt64>(0)
        let run = try Self.run(campaign) { writer in
            writer.skipTakenRows()
            taken.withLock { $0 = writer.taken }
            for number in 0..<100 { try await writer.write(User(number: 2_000_000 + number)) }
        }
        let summary = try await run.send()
        #expect(summary.ending == .complete && summary.accepted == taken.withLock { $0 } + 100)
        #expect(stage.simulator.stop().requests == summary.accepted)
    }

    @Test func `a run whose rows were all read is resumed without the program`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        #expect(try await Self.slow(campaign, rows: Self.users(0..<300)).ending == .interrupted)
        let wasRead = try RunStatus(of: campaign.runDirectory ?? "").isInputRead
        let calls = Mutex(0)
        let resumed = try Self.run(campaign, .always) { writer in
            calls.withLock { $0 += 1 }
            try await Self.users(0..<300)(&writer)
        }
        let summary = try await resumed.send()
        #expect(summary.ending == .complete && summary.accepted == 300, "\(resumed.failure?.description ?? "")")
        #expect(calls.withLock { $0 } == (wasRead ? 0 : 1))
        #expect(stage.simulator.stop().requests == 300)
    }

    @Test func `a complete run is not sent again`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        let summary = try await Self.run(campaign, rows: Self.users(0..<50)).send()
        #expect(summary.accepted == 50 && summary.campaign.isResumable)
        let again = try await Self.run(campaign) { _ in Issue.record("the program was asked for rows") }.send()
        #expect(again == summary)
        #expect(throws: CampaignError.self) { try Self.run(campaign, .never, rows: Self.users(0..<50)) }
        #expect(stage.simulator.stop().requests == 50)
    }

    @Test func `rows that were unavailable are sent again from the spool`() async throws {
        let refusing = SimulatorScript(rules: [
            SimulatorRule(share: 0.1, status: 503, reason: "ServiceUnavailable")
        ])
        let stage = try Stage(script: refusing)
        var campaign = try Self.campaign(stage)
        (campaign.attempts, campaign.retryDelay) = (1, .milliseconds(1))
        let first = try await Self.run(campaign, rows: Self.users(0..<200)).send()
        #expect(first.ending == .complete && first.unavailable > 0)
        #expect(FileManager.default.fileExists(atPath: Self.spool(campaign)))
        let simulator = try stage.replaceSimulator()
        campaign.retryUnavailable = true
        let second = try await Self.run(campaign) { _ in }.send()
        #expect(second.accepted == 200 && simulator.stop().requests == first.unavailable)
        #expect(!FileManager.default.fileExists(atPath: Self.spool(campaign)))
    }

    @Test func `without a spool, a run cannot be resumed, and says so`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        let run = try Self.run(campaign, spool: .none, rows: Self.users(0..<1_000_000))
        async let summary = run.send()
        await eventually {
            run.progress.accepted >= 300
        } then: {
            run.stop()
        }
        #expect(try await summary.campaign.isResumable == false)
        #expect(!FileManager.default.fileExists(atPath: Self.spool(campaign)))
        #expect {
            try Self.run(campaign, .always, rows: Self.users(0..<10))
        } throws: {
            "\($0)".contains("from a program whose rows are not kept, cannot be resumed")
        }
    }

    @Test func `a spool that is too short, or damaged, is an error before rows are sent`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        _ = try await Self.interrupted(campaign)
        let path = Self.spool(campaign)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let requests = await stage.simulator.report().requests
        try Data(whole.prefix(whole.count / 2)).write(to: URL(fileURLWithPath: path))
        let short = try Self.run(campaign, rows: Self.users(0..<1_000_000))
        #expect(try await short.send().ending == .failed)
        #expect(short.failure?.code == .results && short.failure?.description.contains("is truncated: it has") == true)
        try Data(repeating: 0x61, count: whole.count).write(to: URL(fileURLWithPath: path))
        let damaged = try Self.run(campaign, rows: Self.users(0..<1_000_000))
        #expect(try await damaged.send().ending == .failed)
        #expect(damaged.failure?.code == .configuration, "\(damaged.failure?.description ?? "")")
        #expect(stage.simulator.stop().requests == requests)
    }

    /// A row whose field is too long is invalid, and only its first line is its own. The chunk may end there.
    @Test func `rows that are too long, with line ends, are the same when they are read again`() async throws {
        let stage = try Stage()
        var campaign = try Self.campaign(stage)
        // Each further line of a long field is a row that is invalid.
        campaign.circuitBreaker.shares = [Campaign.CircuitBreaker.invalidRows: .never]
        let rows: Rows = { writer in
            for number in 0..<40 {
                let isLong = number % 8 == 7
                let name = isLong ? String(repeating: "a line\n", count: 20_000) : "somebody"
                try await writer.write(User(number: number, name: name))
            }
        }
        #expect(try await Self.slow(campaign, rows: rows).ending == .interrupted)
        let resumed = try Self.run(campaign, rows: rows)
        let summary = try await resumed.send()
        #expect(summary.ending == .complete && summary.accepted == 35, "\(resumed.failure?.description ?? "")")
        #expect(stage.simulator.stop().requests == 35)
    }

    @Test func `the input of another kind is refused`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        _ = try await Self.interrupted(campaign)
        let path = try stage.write("token,name\n\(token(1)),a\n", to: "other.csv")
        #expect {
            try CampaignRun(campaign, input: .file(path), resuming: .always)
        } throws: {
            "\($0)".hasSuffix("the input changed: the run began with rows of a program")
        }
    }

    @Test func `a full disk ends the run, and what was sent is in the results`() async throws {
        let stage = try Stage()
        let campaign = try Self.campaign(stage)
        let files = MemoryFiles()
        files.rows.capacity = 300_000
        let pipe = RowPipe(columns: User.columns, delimiter: campaign.delimiter)
        let input = RunInput(SpooledSource(pipe))
        let run = try CampaignRun(
            campaign, input: input, production: .init(pipe: pipe, rows: Self.users(0..<1_000_000)), files: files,
            logger: LogKeeper().logger)
        let summary = try await run.send()
        #expect(summary.ending == .failed && run.failure?.code == .results)
        #expect(stage.simulator.stop().requests == summary.accepted)
        #expect(files.resultLines.count == Int(summary.accepted))
    }
}
