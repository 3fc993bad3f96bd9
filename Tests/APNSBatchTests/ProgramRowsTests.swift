import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Rows of a program") struct ProgramRowsTests {
    private struct User: CampaignRow, Sendable {
        var number: Int
        var name: String

        static let columns = ["token", "name", "badge"]

        func encode(into row: inout RowEncoder) {
            row.append(token(number))
            row.append(name)
            row.append(number)
        }
    }

    private static let payload = #"{"aps":{"alert":"{{name}}","badge":"{{badge:number}}"}}"#

    private static func campaign(_ stage: Stage) throws -> Campaign {
        var campaign = try stage.campaign(rows: "").campaign
        campaign.template = .init(json: Array(payload.utf8), name: "t.json")
        campaign.lanes = 1
        return campaign
    }

    private static func users(_ count: Int) -> AsyncStream<User> {
        AsyncStream { users in
            for number in 0..<count { users.yield(User(number: number, name: "user \(number)")) }
            users.finish()
        }
    }

    @Test func `each element of a sequence is sent once`() async throws {
        let stage = try Stage()
        let run = try CampaignRun(try Self.campaign(stage), rows: Self.users(7000))
        let summary = try await run.send()
        #expect(summary.accepted == 7000 && summary.rows == 7000, "\(summary)")
        #expect(Set(try stage.results(run).values.map { $0[1] }) == Set((0..<7000).map { token($0) }))
        #expect(stage.simulator.stop().requests == 7000)
    }

    @Test func `fields with delimiters, quotes and line ends arrive as they are`() async throws {
        let stage = try Stage()
        var campaign = try Self.campaign(stage)
        campaign.resultColumns = ["name"]
        let names = [
            "", "plain", "with, comma", "with \"quotes\"", "two\nlines", "carriage\r\nreturn", "\"", "é\u{1F600}",
            " spaces ",
            String(repeating: "long, ", count: 40),
        ]
        let run = try CampaignRun(campaign, columns: ["token", "name", "badge"]) { writer in
            for (number, name) in names.enumerated() {
                try await writer.write { row in
                    row.append(token(number))
                    row.append(bytes: Array(name.utf8).span)
                    row.append(number)
                }
            }
            #expect(writer.count == 10)
        }
        var found: [UInt64: String] = [:]
        let results = run.makeResults()
        async let summary = run.send()
        for await batch in results { for result in batch { found[result.row] = result.columns[0] } }
        #expect(try await summary.accepted == 10)
        for (index, name) in names.enumerated() { #expect(found[UInt64(index + 1)] == name) }
    }

    @Test func `rows larger than what is left of a buffer are whole`() async throws {
        let stage = try Stage()
        let text = String(repeating: "x", count: 3001)
        let run = try CampaignRun(try Self.campaign(stage), columns: User.columns) { writer in
            for number in 0..<500 { try await writer.write(User(number: number, name: text)) }
        }
        #expect(try await run.send().accepted == 500)
    }

    @Test func `a row with too few fields or none is invalid, and others are sent`() async throws {
        let stage = try Stage()
        var campaign = try Self.campaign(stage)
        campaign.circuitBreaker.shares = [Campaign.CircuitBreaker.invalidRows: .never]
        let run = try CampaignRun(campaign, columns: User.columns) { writer in
            try await writer.write { row in row.append(token(1)) }
            try await writer.write { _ in }
            try await writer.write(User(number: 2, name: "two"))
        }
        let summary = try await run.send()
        #expect(summary.accepted == 1 && summary.invalid == 2)
        #expect(try stage.results(run)[1]?.joined(separator: ",").contains("<rows>:2:") == true)
    }

    @Test func `rows are sent while the program waits for the next ones`() async throws {
        let stage = try Stage()
        let (users, more) = AsyncStream<User>.makeStream()
        let run = try CampaignRun(try Self.campaign(stage), rows: users)
        let results = run.makeResults()
        async let summary = run.send()
        more.yield(User(number: 1, name: "first"))
        var batches = results.makeAsyncIterator()
        #expect(await batches.next()?.map(\.row) == [1])
        more.yield(User(number: 2, name: "second"))
        #expect(await batches.next()?.map(\.row) == [2])
        more.finish()
        #expect(await batches.next() == nil)
        #expect(try await summary.accepted == 2)
    }

    @Test func `when the program fails, the run stops and says why`() async throws {
        struct Lost: Error, CustomStringConvertible { var description: String { "the database is gone" } }
        let stage = try Stage()
        let run = try CampaignRun(try Self.campaign(stage), columns: User.columns) { writer in
            for number in 0..<300 { try await writer.write(User(number: number, name: "a")) }
            throw Lost()
        }
        let summary = try await run.send()
        #expect(summary.accepted <= 300 && summary.ending == .failed)
        #expect(stage.simulator.stop().requests == summary.accepted)
        #expect(run.failure?.code == .input)
        #expect(run.failure?.description == "<rows>: the program that makes the rows failed: the database is gone")
    }

    @Test func `an error while a row is encoded leaves nothing of it`() async throws {
        struct Refused: Error {}
        let stage = try Stage()
        let run = try CampaignRun(try Self.campaign(stage), columns: User.columns) { writer in
            await #expect(throws: Refused.self) {
                try await writer.write { row in
                    row.append("half a row")
                    throw Refused()
                }
            }
            try await writer.write(User(number: 1, name: "one"))
        }
        let summary = try await run.send()
        #expect(summary.accepted == 1 && summary.rows == 1)
    }

    @Test(arguments: ["stop", "stopAtOnce", "cancel"])
    func `a program with endless rows ends with the run`(how: String) async throws {
        let stage = try Stage()
        let run = try CampaignRun(try Self.campaign(stage), columns: User.columns) { writer in
            var number = 0
            while true {
                try await writer.write(User(number: number, name: "endless"))
                number += 1
            }
        }
        let running = Task { try await run.send() }
        await eventually { run.progress.accepted >= 500 }
        switch how {
        case "stop": run.stop()
        case "stopAtOnce": run.stopAtOnce()
        default: running.cancel()
        }
        let summary = try await running.value
        #expect(summary.ending == .interrupted && summary.accepted >= 500, "\(summary.ending) \(summary.cause ?? "")")
        #expect(stage.simulator.stop().requests >= summary.accepted)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a run that is stopped does not wait for the next row of the program`() async throws {
        let stage = try Stage()
        let (users, more) = AsyncStream<User>.makeStream()
        let run = try CampaignRun(try Self.campaign(stage), rows: users)
        async let summary = run.send()
        more.yield(User(number: 1, name: "first"))
        await eventually {
            run.progress.accepted > 0
        } then: {
            run.stop()
        }
        #expect(try await summary.accepted == 1)
        #expect(try await summary.ending == .interrupted)
        more.finish()
    }

    @Test func `columns without names are refused`() throws {
        let stage = try Stage()
        for columns in [[], ["token", ""]] {
            #expect(throws: CampaignError.self) {
                try CampaignRun(try Self.campaign(stage), columns: columns) { _ in }
            }
        }
    }
}
