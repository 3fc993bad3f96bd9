import APNSBatchBasics
import APNSBatchSending
import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

/// What a start does, with real runs in the history.
@Suite("The history of a campaign's inputs") struct CampaignBookTests {
    private struct Nights {
        let stage: Stage
        var campaign: StagedCampaign
        private var night = 0

        init(rows: Int = 100) throws {
            stage = try Stage()
            campaign = try stage.campaign(rows: Self.rows(0..<rows))
            campaign.lanes = 1
            campaign.book = Campaign.BookRules(
                directory: stage.directory.appending(path: "nights").path, nightBegan: UInt64(time(nil)) - 10)
            campaign.runDirectory = directory(0)
        }

        static func rows(_ numbers: Range<Int>) -> String {
            "token,payload\n" + numbers.map { "\(token($0)),\(#""{""aps"":{""alert"":""Hi""}}""#)\n" }.joined()
        }

        func directory(_ number: Int) -> String { stage.directory.appending(path: "nights/\(number)").path }

        var path: String { if case .file(let path) = campaign.input { path } else { "" } }

        func write(_ text: String) throws { try text.write(toFile: path, atomically: true, encoding: .utf8) }

        /// From now on, the runs so far belong to an earlier night.
        mutating func nextNight() {
            night += 1
            campaign.book?.nightBegan = UInt64(time(nil)) + 1
            campaign.runDirectory = directory(night)
        }

        /// From now on, a run has another directory.
        mutating func beside() {
            night += 1
            campaign.runDirectory = directory(night)
        }

        func decision(_ change: (inout Campaign.BookRules) -> Void = { _ in }) throws -> CampaignBook.Decision {
            var campaign = campaign.campaign
            if var rules = campaign.book {
                change(&rules)
                campaign.book = rules
            }
            let book = try #require(try CampaignBook(campaign))
            return try book.decision(for: self.campaign.input)
        }

        func send() async throws -> CampaignSummary { try await CampaignRun(campaign).send() }

        /// Begins a run, and leaves it when some rows are accepted.
        func interrupt() async throws {
            let run = try CampaignRun(campaign)
            try run.setRateLimit(.init(rate: .init(20, per: .second)))
            async let summary = run.send()
            await eventually {
                run.progress.accepted >= 3
            } then: {
                run.stop()
            }
            #expect(try await summary.ending == .interrupted)
        }
    }

    @Test func `an input is sent once, whatever its file is called and when it was written`() async throws {
        var nights = try Nights()
        #expect(try nights.decision() == .send)
        #expect(try await nights.send().ending == .complete)
        #expect(try nights.decision() == .answer(nights.directory(0)))
        try nights.write(Nights.rows(0..<100))
        #expect(try nights.decision() == .answer(nights.directory(0)))
        nights.nextNight()
        #expect(try nights.decision() == .wait(.sent(by: nights.directory(0))))
        #expect(try nights.decision { $0.repeatsNightly = true } == .send)
        #expect(try nights.decision { $0.again = true } == .send)
        // As many bytes, and another row.
        try nights.write(Nights.rows(0..<99) + Nights.rows(200..<201).split(separator: "\n")[1] + "\n")
        #expect(try nights.decision() == .send)
    }

    @Test func `a run refuses what the history refuses, before it has a ledger`() async throws {
        var nights = try Nights()
        _ = try await nights.send()
        nights.nextNight()
        let error = #expect(throws: CampaignError.self) { try CampaignRun(nights.campaign) }
        #expect((error?.cause as? CampaignBook.Refusal)?.decision == .wait(.sent(by: nights.directory(0))))
        #expect(try RunOpening(ifBegunIn: nights.directory(1)) == nil)
        nights.campaign.book?.again = true
        #expect(try await nights.send().accepted == 100)
    }

    @Test func `another input of the night needs a word, and one of another night does not`() async throws {
        var nights = try Nights()
        _ = try await nights.send()
        try nights.write(Nights.rows(500..<600))
        #expect(try nights.decision() == .refuse(.another(nights.directory(0))))
        nights.nextNight()
        #expect(try nights.decision() == .send)
    }

    @Test func `a file that has grown is refused, with the number of rows that were sent`() async throws {
        var nights = try Nights()
        _ = try await nights.send()
        try nights.write(Nights.rows(0..<130))
        nights.nextNight()
        #expect(try nights.decision() == .refuse(.grown(from: nights.directory(0), rows: 100)))
    }

    @Test func `a run without rows is the beginning of no input, and one whose end was not entered has its rows`()
        async throws
    {
        var nights = try Nights()
        try nights.write("token,payload\n")
        _ = try await nights.send()
        try nights.write(Nights.rows(0..<100))
        nights.nextNight()
        #expect(try nights.decision() == .send)
        _ = try await nights.send()
        let path = "\(nights.campaign.book!.directory)/runs.ndjson"
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        try (lines.dropLast().joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
        try nights.write(Nights.rows(0..<130))
        nights.nextNight()
        #expect(try nights.decision() == .refuse(.grown(from: nights.directory(1), rows: 100)))
    }

    @Test func `a damaged ledger is a record that is gone, and holds up no other input`() async throws {
        let nights = try Nights()
        try await nights.interrupt()
        try Data("damaged".utf8).write(to: URL(filePath: nights.directory(0) + "/ledger"))
        #expect(try nights.decision() == .refuse(.lost(nights.directory(0))))
        try nights.write(Nights.rows(500..<599))
        #expect(try nights.decision() == .send)
        // As many bytes as the lost one: it may be that one.
        try nights.write(Nights.rows(500..<600))
        #expect(try nights.decision() == .refuse(.lost(nights.directory(0))))
        #expect(try nights.decision { $0.again = true } == .send)
    }

    @Test func `another template makes another message in a later night, and not in the same one`() async throws {
        var nights = try Nights()
        _ = try await nights.send()
        nights.campaign.headers.collapseID = "other"
        #expect(try nights.decision() == .refuse(.changed(by: nights.directory(0))))
        nights.nextNight()
        #expect(try nights.decision() == .send)
    }

    @Test func `an unfinished run is continued in a later night, and named by the next one`() async throws {
        var nights = try Nights()
        try await nights.interrupt()
        #expect(try nights.decision() == .resume(nights.directory(0)))
        nights.nextNight()
        #expect(try nights.decision() == .resume(nights.directory(0)))
        // Written again with the same rows.
        try nights.write(Nights.rows(0..<100))
        #expect(try nights.decision() == .resume(nights.directory(0)))
        try nights.write(Nights.rows(500..<600))
        #expect(try nights.decision() == .send)
        let summary = try await nights.send()
        #expect(summary.ending == .complete && summary.exitCode == 2)
        #expect(summary.unfinished?.map(\.runDirectory) == [nights.directory(0)])
        #expect(summary.unfinished?.first?.left.map { $0 > 0 && $0 < 100 } == true)
        #expect(summary.verdict.hasPrefix("LOOK: another run is not finished: "))
    }

    @Test func `a run that was finished first is not the one of the night`() async throws {
        let nights = try Nights()
        try await nights.interrupt()
        _ = try await CampaignRun(nights.campaign.campaign, input: nights.campaign.input, resuming: .always).send()
        try nights.write(Nights.rows(500..<600))
        #expect(try nights.decision() == .refuse(.another(nights.directory(0))))
        #expect(try nights.decision { $0.finished = [nights.directory(0)] } == .send)
    }

    @Test func `a killed run whose directory is gone is refused`() async throws {
        let nights = try Nights()
        try await nights.interrupt()
        try FileManager.default.removeItem(atPath: nights.directory(0))
        #expect(try nights.decision() == .refuse(.lost(nights.directory(0))))
        let book = try #require(try CampaignBook(nights.campaign.campaign))
        #expect(try book.unfinished().map(\.isLost) == [true])
        #expect(try RunHistory(nights.campaign.book!.directory).abandon(nights.directory(0)) == 1)
        #expect(try book.unfinished().isEmpty)
        // Its rows have no account, so it takes a word to send them.
        #expect(try nights.decision() == .refuse(.abandoned(by: nights.directory(0))))
        #expect(try nights.decision { $0.again = true } == .send)
        #expect(try RunHistory(nights.campaign.book!.directory).abandon(nights.directory(0)) == 0)
    }

    @Test func `a run that was given up has sent a part of its input`() async throws {
        var nights = try Nights()
        try await nights.interrupt()
        let run = try CampaignRun(nights.campaign.campaign, input: nights.campaign.input, resuming: .always)
        run.abandon()
        #expect(try await run.send().ending == .complete)
        #expect(try nights.decision() == .refuse(.abandoned(by: nights.directory(0))))
        nights.nextNight()
        #expect(try nights.decision() == .refuse(.abandoned(by: nights.directory(0))))
        try nights.write(Nights.rows(500..<600))
        #expect(try nights.decision() == .send)
    }

    @Test func `a complete run whose unavailable rows are sent again is not over until that has ended`() async throws {
        let nights = try Nights()
        _ = try await nights.send()
        let history = RunHistory(nights.campaign.book!.directory)
        let book = try #require(try CampaignBook(nights.campaign.campaign))
        func isOver() throws -> Bool {
            try PastRuns(history.entries().all, of: book.campaign).runs.allSatisfy(\.isOver)
        }
        #expect(try isOver())
        var again = nights.campaign.campaign
        again.retryUnavailable = true
        let run = try CampaignRun(again, input: nights.campaign.input, resuming: .always)
        #expect(try !isOver())
        #expect(try await run.send().ending == .complete)
        #expect(try isOver())
    }

    @Test func `several files are known one by one`() async throws {
        var nights = try Nights()
        let other = nights.stage.directory.appending(path: "other.csv").path
        try Nights.rows(500..<600).write(toFile: other, atomically: true, encoding: .utf8)
        let first = nights.path
        nights.campaign.input = .files([first, other])
        #expect(try await nights.send().accepted == 200)
        #expect(try nights.decision() == .answer(nights.directory(0)))
        nights.nextNight()
        try Nights.rows(700..<800).write(toFile: first, atomically: true, encoding: .utf8)
        #expect(try nights.decision() == .refuse(.partlySent(files: [other], by: nights.directory(0))))
        nights.campaign.input = .files([first])
        #expect(try nights.decision() == .send)
    }

    @Test(.timeLimit(.minutes(5))) func `of two starts with one input at the same time one sends`() async throws {
        let nights = try Nights(rows: 2000)
        let ends = await withTaskGroup(of: CampaignSummary?.self) { group in
            for number in 0..<6 {
                var campaign = nights.campaign
                campaign.runDirectory = nights.directory(number)
                group.addTask { [campaign] in try? await CampaignRun(campaign).send() }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ends.count { $0?.ending == .complete } == 1 && ends.count { $0 == nil } == 5)
        #expect(nights.stage.simulator.stop().requests == 2000)
    }

    @Test func `an input of a program is known when it was read`() async throws {
        var nights = try Nights()
        nights.campaign.input = .program(["cat", nights.path])
        #expect(try await nights.send().accepted == 100)
        #expect(try nights.decision() == .answer(nights.directory(0)))
        nights.nextNight()
        #expect(try nights.decision() == .send)
        let error = #expect(throws: CampaignError.self) { try CampaignRun(nights.campaign) }
        #expect((error?.cause as? CampaignBook.Refusal)?.decision == .wait(.sent(by: nights.directory(0))))
        #expect(!FileManager.default.fileExists(atPath: "\(nights.directory(1))/input.zst"))
    }

    @Test func `what is known of an input that was copied is what was read, not what its files have become`() throws {
        let nights = try Nights()
        let other = nights.stage.directory.appending(path: "other.csv").path
        try Nights.rows(500..<600).write(toFile: other, atomically: true, encoding: .utf8)
        let before = try String(contentsOfFile: nights.path, encoding: .utf8)
        let look = InputLook(nights.campaign.campaign)
        for input in [CampaignInput.file(nights.path), .files([nights.path, other])] {
            try nights.write(before)
            let input = try RunInput(input)
            let path = nights.stage.directory.appending(path: "copy-\(input.paths.count)").path
            let copied = try InputCopy(of: input.location).write(to: FileStorage(path, .new))
            let known = try #require(look.known(input, copied))
            // As many bytes, and other rows.
            try nights.write(Nights.rows(0..<99) + Nights.rows(200..<201).split(separator: "\n")[1] + "\n")
            #expect(look.known(input, copied)?.files.map(\.sum) == known.files.map(\.sum))
            let now = try InputCopy(of: input.location).write(to: FileStorage(path + "-now", .new))
            #expect(look.known(input, now)?.files.first?.sum != known.files.first?.sum)
            #expect(known.files.count == input.paths.count && known.files.allSatisfy { $0.sum != nil })
        }
    }

    @Test func `an input that is not there is waited for`() async throws {
        let nights = try Nights()
        try FileManager.default.removeItem(atPath: nights.path)
        #expect(try nights.decision() == .wait(.absent("\(nights.path): No such file or directory")))
    }

    @Test func `lines that are torn or of a later version are left out`() async throws {
        let nights = try Nights()
        _ = try await nights.send()
        let path = "\(nights.campaign.book!.directory)/runs.ndjson"
        let whole = try Data(contentsOf: URL(filePath: path))
        for length in 0..<whole.count {
            try whole.prefix(length).write(to: URL(filePath: path))
            // A killed process leaves any prefix: the run directory still says that the run is complete.
            let isKnown = whole.prefix(length).contains(UInt8(ascii: "\n"))
            #expect(try nights.decision() == (isKnown ? .answer(nights.directory(0)) : .send), "\(length)")
        }
        try (Data(#"{"event":"paused","campaign":"x"}"#.utf8) + Data("\n\n".utf8) + whole).write(
            to: URL(filePath: path))
        #expect(try nights.decision() == .answer(nights.directory(0)))
    }
}
