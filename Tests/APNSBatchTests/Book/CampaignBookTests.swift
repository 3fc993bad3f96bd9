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
        private(set) var night = 0

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

        var lastArgument: String? {
            if case .program(let arguments, _, _) = campaign.input { arguments.last } else { nil }
        }

        var path: String { if case .file(let path) = campaign.input { path } else { "" } }

        func write(_ text: String) throws { try text.write(toFile: path, atomically: true, encoding: .utf8) }

        func pack(_ path: String) throws {
            let gzip = try Process.run(URL(filePath: "/usr/bin/gzip"), arguments: ["-k", path])
            gzip.waitUntilExit()
            #expect(gzip.terminationStatus == 0)
        }

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
        // As many bytes as the lost one, and other ones.
        try nights.write(Nights.rows(500..<600))
        #expect(try nights.decision() == .send)
        // The rows of the lost one, written again and grown: nobody knows which of them were sent.
        for rows in [0..<100, 0..<130] {
            try nights.write(Nights.rows(rows))
            #expect(try nights.decision() == .refuse(.lost(nights.directory(0))))
        }
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

    @Test(arguments: [true, false])
    func `a run whose files cannot be read is not taken for one that is gone`(isLedger: Bool) async throws {
        let nights = try Nights()
        try await nights.interrupt()
        let path = nights.directory(0) + (isLedger ? "/ledger" : "")
        try FileManager.default.moveItem(atPath: path, toPath: path + ".kept")
        // A link to itself cannot be followed, whoever tries.
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        #expect(throws: CampaignError.self) { try nights.decision() }
        #expect(throws: CampaignError.self) { try RunOpening(ifReadableIn: nights.directory(0)) }
        try FileManager.default.removeItem(atPath: path)
        #expect(try RunOpening(ifReadableIn: nights.directory(0)) == nil)
        try FileManager.default.moveItem(atPath: path + ".kept", toPath: path)
        #expect(try nights.decision() == .resume(nights.directory(0)))
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

    @Test func `an input that shares rows with an unfinished run needs a person`() async throws {
        let nights = try Nights()
        try await nights.interrupt()
        let shared = CampaignBook.Decision.refuse(.shared(by: nights.directory(0)))
        func file(_ name: String) -> String { nights.stage.directory.appending(path: name).path }
        try Nights.rows(500..<600).write(toFile: file("other.csv"), atomically: true, encoding: .utf8)
        try Nights.rows(0..<130).write(toFile: file("grown.csv"), atomically: true, encoding: .utf8)
        try nights.pack(nights.path)
        for (input, wanted) in [
            (.file(nights.path), .resume(nights.directory(0))), (.file(file("other.csv")), .send),
            (.file(file("grown.csv")), shared), (.file(nights.path + ".gz"), shared),
            (.files([nights.path, file("other.csv")]), shared), (.files([file("other.csv"), nights.path]), shared),
            (.files([file("other.csv"), file("grown.csv")]), shared),
        ] as [(CampaignInput, CampaignBook.Decision)] {
            var night = nights
            night.campaign.input = input
            #expect(try night.decision() == wanted, "\(input)")
            // Nor in a later night.
            night.nextNight()
            #expect(try night.decision() == wanted, "\(input)")
            guard wanted != .send else { continue }
            #expect(try night.decision { $0.again = true } == (wanted == shared ? .send : wanted))
        }
    }

    @Test func `a sent input is known when it is packed, unpacked or grown under another name, and in several files`()
        async throws
    {
        var nights = try Nights(rows: 3000)
        _ = try await nights.send()
        nights.nextNight()
        func file(_ name: String) -> String { nights.stage.directory.appending(path: name).path }
        try Nights.rows(0..<3100).write(toFile: file("grown.csv"), atomically: true, encoding: .utf8)
        try Nights.rows(5000..<5100).write(toFile: file("other.csv"), atomically: true, encoding: .utf8)
        // The first half of its rows, and other ones behind them: an export in a stable order.
        let half =
            Nights.rows(0..<1500) + Nights.rows(6000..<7501).split(separator: "\n").dropFirst().joined(separator: "\n")
            + "\n"
        try half.write(toFile: file("half.csv"), atomically: true, encoding: .utf8)
        for name in ["grown.csv", "half.csv"] { try nights.pack(file(name)) }
        try nights.pack(nights.path)
        let (sent, own) = (CampaignBook.Decision.wait(.sent(by: nights.directory(0))), nights.path)
        let grown = CampaignBook.Decision.refuse(.grown(from: nights.directory(0), rows: 3000))
        for (input, wanted) in [
            (.file(own), sent), (.file(own + ".gz"), sent), (.file(file("grown.csv")), grown),
            (.file(file("grown.csv.gz")), grown), (.file(file("half.csv")), .send), (.file(file("half.csv.gz")), .send),
            (
                .files([file("other.csv"), own + ".gz"]),
                .refuse(.partlySent(files: [own + ".gz"], by: nights.directory(0)))
            ),
            (
                .files([file("other.csv"), file("grown.csv")]),
                .refuse(.partlySent(files: [file("grown.csv")], by: nights.directory(0)))
            ),
        ] as [(CampaignInput, CampaignBook.Decision)] {
            nights.campaign.input = input
            #expect(try nights.decision() == wanted, "\(input)")
        }
    }

    @Test func `a start that ended before its ledger had a run holds up nothing`() async throws {
        var nights = try Nights()
        // Killed between its line in the history and its ledger.
        do { _ = try CampaignRun(nights.campaign) }
        #expect(try nights.decision() == .send)
        // While it goes on, its rows are not sent.
        let run = try CampaignRun(nights.campaign)
        nights.beside()
        #expect(try nights.decision() == .busy(nights.directory(0)))
        #expect(try await run.send().ending == .complete)
        nights.nextNight()
        let book = try #require(try CampaignBook(nights.campaign.campaign))
        #expect(try book.unfinished().isEmpty)
        #expect(try nights.decision() == .wait(.sent(by: nights.directory(0))))
    }

    @Test func `a start that ended before its ledger had a run leaves its directory to the next one`() async throws {
        let nights = try Nights()
        do { _ = try CampaignRun(nights.campaign) }
        let directory = nights.directory(0)
        #expect(FileManager.default.fileExists(atPath: directory + "/ledger"))
        try Data().write(to: URL(filePath: directory + "/results.csv"))
        let book = try #require(try CampaignBook(nights.campaign.campaign))
        #expect(try !book.isOccupied(directory))
        #expect(try await nights.send().ending == .complete)
        #expect(try book.isOccupied(directory))
        // Lines whose ledger has nothing are those of a run.
        try Data().write(to: URL(filePath: directory + "/ledger"))
        #expect(try book.isOccupied(directory))
    }

    @Test func `a run that the history does not have is taken in, and one of another topic is not`() async throws {
        for isKilled in [false, true] {
            var nights = try Nights()
            if isKilled { try await nights.interrupt() } else { _ = try await nights.send() }
            try FileManager.default.removeItem(atPath: "\(nights.campaign.book!.directory)/runs.ndjson")
            let other = nights.campaign
            nights.campaign.headers.topic = "com.example.other"
            let error = #expect(throws: CampaignError.self) { try nights.decision() }
            #expect(error?.description.contains("holds a run with another topic") == true, "\(error)")
            nights.campaign = other
            let own = nights.directory(0)
            #expect(try nights.decision() == (isKilled ? .resume(own) : .answer(own)))
            nights.nextNight()
            #expect(try nights.decision() == (isKilled ? .resume(own) : .wait(.sent(by: own))))
            try nights.write(Nights.rows(500..<600))
            #expect(try nights.decision() == .send)
        }
    }

    @Test func `a resumed run that the history does not have is entered`() async throws {
        var nights = try Nights()
        try await nights.interrupt()
        try FileManager.default.removeItem(atPath: "\(nights.campaign.book!.directory)/runs.ndjson")
        _ = try await CampaignRun(nights.campaign.campaign, input: nights.campaign.input, resuming: .always).send()
        nights.nextNight()
        #expect(try nights.decision() == .wait(.sent(by: nights.directory(0))))
    }

    @Test func `run directories that were moved together with their history are found`() async throws {
        var nights = try Nights()
        try await nights.interrupt()
        let (old, new) = (nights.campaign.book!.directory, nights.stage.directory.appending(path: "moved").path)
        try FileManager.default.moveItem(atPath: old, toPath: new)
        nights.campaign.book?.directory = new
        nights.campaign.runDirectory = new + "/1"
        #expect(try nights.decision() == .resume(new + "/0"))
    }

    @Test func `a run that begins in the future belongs to no night`() async throws {
        var nights = try Nights()
        _ = try await nights.send()
        nights.campaign.book?.nightBegan = UInt64(time(nil)) - 100_000
        #expect(try nights.decision() == .answer(nights.directory(0)))
        nights.beside()
        let path = "\(nights.campaign.book!.directory)/runs.ndjson"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let began = try #require(text.firstMatch(of: #/"began":"(\d{4})/#)).1
        try text.replacing("\(began)-", with: "\(Int(began)! + 1)-").write(
            toFile: path, atomically: true, encoding: .utf8)
        #expect(try nights.decision() == .wait(.sent(by: nights.directory(0))))
    }

    @Test func `what a run knows of its input is enough, whether it is packed, made of several files or not kept`()
        async throws
    {
        func file(_ nights: Nights, _ name: String) -> String { nights.stage.directory.appending(path: name).path }
        for isPacked in [false, true] {
            for spool in [nil, CampaignRun.Spool.none, .runDirectory] {
                var nights = try Nights(rows: 3000)
                let other = file(nights, "other.csv")
                try Nights.rows(5000..<5100).write(toFile: other, atomically: true, encoding: .utf8)
                if isPacked { try nights.pack(nights.path) }
                let own = nights.path + (isPacked ? ".gz" : "")
                for paths in [[own], [own, other]] {
                    nights.campaign.input = paths.count == 1 ? .file(own) : .files(paths)
                    nights.campaign.book?.again = true
                    _ = try await CampaignRun(nights.campaign.campaign, input: nights.campaign.input, spool: spool)
                        .send()
                    nights.campaign.book?.again = false
                    nights.nextNight()
                    #expect(
                        try nights.decision() == .wait(.sent(by: nights.directory(nights.night - 1))),
                        "\(paths) \(spool)")
                }
                let plain = String(own.prefix(own.count - (isPacked ? 3 : 0)))
                try Nights.rows(0..<3100).write(toFile: plain, atomically: true, encoding: .utf8)
                if isPacked {
                    try FileManager.default.removeItem(atPath: own)
                    try nights.pack(plain)
                }
                nights.campaign.input = .file(own)
                #expect(
                    try nights.decision() == .refuse(.partlySent(files: [own], by: nights.directory(1))),
                    "\(isPacked) \(spool)")
            }
        }
    }

    @Test func `a stream that has grown or was sent is known by its copy`() async throws {
        var nights = try Nights(rows: 3000)
        nights.campaign.input = .program(["cat", nights.path])
        _ = try await nights.send()
        func refusal() throws -> CampaignBook.Decision? {
            let error = #expect(throws: CampaignError.self) { try CampaignRun(nights.campaign) }
            return (error?.cause as? CampaignBook.Refusal)?.decision
        }
        let path = try #require(nights.lastArgument)
        nights.nextNight()
        try Nights.rows(0..<3100).write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try refusal() == .refuse(.grown(from: nights.directory(0), rows: 3000)))
    }

    @Test func `a run that cannot be read behind its header, or whose rows are gone, is lost`() async throws {
        for isDamaged in [true, false] {
            var nights = try Nights()
            let run = try CampaignRun(
                nights.campaign.campaign, input: nights.campaign.input, spool: isDamaged ? nil : .runDirectory)
            try run.setRateLimit(.init(rate: .init(20, per: .second)))
            async let summary = run.send()
            await eventually {
                run.progress.accepted >= 3
            } then: {
                run.stop()
            }
            _ = try await summary
            if isDamaged {
                try damage(nights.directory(0) + "/ledger", of: nights.directory(0))
            } else {
                try FileManager.default.removeItem(atPath: nights.directory(0) + "/input.zst")
            }
            nights.nextNight()
            let decision = try nights.decision()
            #expect(decision == .refuse(.lost(nights.directory(0))), "\(isDamaged) \(decision)")
            let book = try #require(try CampaignBook(nights.campaign.campaign))
            #expect(try book.unfinished().map(\.isLost) == [true])
            try nights.write(Nights.rows(500..<600))
            #expect(try nights.decision { $0.finishesEarlier = true } == .send)
        }
    }

    @Test func `a run that begins while its directory is looked at is not lost`() async throws {
        let nights = try Nights()
        try await nights.interrupt()
        let (now, before, link) = (nights.directory(0), nights.directory(7), nights.directory(8))
        try FileManager.default.createDirectory(atPath: before, withIntermediateDirectories: false)
        #expect(FileManager.default.createFile(atPath: before + "/ledger", contents: nil))
        let key = RunKey(runDirectory: link, began: try RunOpening(of: now).began)
        var lost = 0
        for number in 0..<400 {
            #expect(symlink(before, link + ".before") == 0 && rename(link + ".before", link) == 0)
            #expect(symlink(now, link + ".now") == 0)
            let hasBegun = Guarded(false)
            async let beginning: Void = NamedThread.value("beginning") {
                usleep(UInt32(number % 50 * 10))
                #expect(rename(link + ".now", link) == 0)
                hasBegun.withLock { $0 = true }
            }
            while !hasBegun.withLock({ $0 }) {
                if try BookFacts.Unfinished(of: key)?.isLost == true { lost += 1 }
            }
            try await beginning
        }
        #expect(lost == 0)
    }

    /// Alters a byte behind the header of a ledger, so that it is no torn end.
    private func damage(_ path: String, of run: String) throws {
        let whole = try Data(contentsOf: URL(filePath: path))
        for place in whole.indices {
            var ledger = whole
            ledger[place] ^= 255
            try ledger.write(to: URL(filePath: path))
            if (try? RunOpening(ifBegunIn: run)) != nil, (try? RunStatus(of: run)) == nil { return }
        }
        Issue.record("every byte of the ledger may be altered")
    }

    @Test func `a lost run whose directory another one has is given up alone`() async throws {
        let nights = try Nights()
        try await nights.interrupt()
        try FileManager.default.removeItem(atPath: nights.directory(0))
        let first = nights.path
        // It begins in another second.
        try await Task.sleep(for: .milliseconds(1100))
        try nights.write(Nights.rows(500..<600))
        try await nights.interrupt()
        let book = try #require(try CampaignBook(nights.campaign.campaign))
        let found = try book.unfinished()
        #expect(
            found.map(\.isLost) == [true, false]
                && found.map(\.runDirectory) == [nights.directory(0), nights.directory(0)])
        let lost = try #require(found.first)
        #expect(lost.command.hasSuffix(" --began \(lost.began)"))
        #expect(try RunHistory(nights.campaign.book!.directory).abandon(nights.directory(0), began: lost.began) == 1)
        #expect(try book.unfinished().map(\.isLost) == [false])
        #expect(first == nights.path)
    }

    @Test func `a start that is refused does not void a run that had its directory`() async throws {
        var nights = try Nights()
        try await nights.interrupt()
        try FileManager.default.removeItem(atPath: nights.directory(0))
        let rows = Nights.rows(0..<100)
        // The next run begins in another second.
        try await Task.sleep(for: .milliseconds(1100))
        try nights.write(Nights.rows(500..<501))
        nights.campaign.expectations = [try CampaignExpectation("rows >= 2")]
        #expect(throws: CampaignError.self) {
            try CampaignRun(nights.campaign.campaign, input: nights.campaign.input, spool: .runDirectory)
        }
        nights.campaign.expectations = []
        _ = try await nights.send()
        try nights.write(rows)
        nights.beside()
        let text = try String(contentsOfFile: nights.campaign.book!.directory + "/runs.ndjson", encoding: .utf8)
        let decision = try nights.decision()
        #expect(decision == .refuse(.lost(nights.directory(0))), "\(decision) \(text)")
    }

    @Test func `files without rows are no reason against others`() async throws {
        var nights = try Nights()
        let bare = nights.stage.directory.appending(path: "bare.csv").path
        try "token,payload\n".write(toFile: bare, atomically: true, encoding: .utf8)
        nights.campaign.input = .files([nights.path, bare])
        _ = try await nights.send()
        nights.nextNight()
        let other = nights.stage.directory.appending(path: "other.csv").path
        try Nights.rows(500..<600).write(toFile: other, atomically: true, encoding: .utf8)
        nights.campaign.input = .files([other, bare])
        #expect(try nights.decision() == .send)
    }

    @Test func `a run that is sent again takes the place of the one that had begun`() async throws {
        let nights = try Nights()
        try await nights.interrupt()
        try nights.write(Nights.rows(0..<130))
        #expect(try nights.decision() == .refuse(.shared(by: nights.directory(0))))
        var again = nights
        again.beside()
        again.campaign.book?.again = true
        #expect(try await again.send().accepted == 130)
        let book = try #require(try CampaignBook(nights.campaign.campaign))
        #expect(try book.unfinished().isEmpty)
    }

    @Test func `once each night, the rest of an earlier night is finished first`() async throws {
        var nights = try Nights()
        try await nights.interrupt()
        #expect(try nights.decision { $0.repeatsNightly = true } == .resume(nights.directory(0)))
        nights.nextNight()
        #expect(try nights.decision { $0.repeatsNightly = true } == .finish(nights.directory(0)))
        _ = try await CampaignRun(
            {
                var earlier = nights.campaign.campaign
                earlier.runDirectory = nights.directory(0)
                return earlier
            }(),
            input: nights.campaign.input, resuming: .always
        ).send()
        #expect(try nights.decision { $0.repeatsNightly = true } == .send)
        // A list that has grown is tonight's list.
        try nights.write(Nights.rows(0..<130))
        #expect(try nights.decision { $0.repeatsNightly = true } == .send)
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

    @Test func `a packed file that was not copied is known when it has grown`() async throws {
        var nights = try Nights(rows: 3000)
        let plain = nights.path
        try nights.pack(plain)
        nights.campaign.input = .file(plain + ".gz")
        _ = try await CampaignRun(
            nights.campaign.campaign, input: nights.campaign.input, spool: CampaignRun.Spool.none
        ).send()
        nights.nextNight()
        try Nights.rows(0..<3100).write(toFile: plain, atomically: true, encoding: .utf8)
        try FileManager.default.removeItem(atPath: plain + ".gz")
        try nights.pack(plain)
        #expect(try nights.decision() == .refuse(.grown(from: nights.directory(0), rows: 3000)))
    }

    @Test func `a file of a lost run is known by its time where the history has nothing of its bytes`() async throws {
        var nights = try Nights()
        try await nights.interrupt()
        try FileManager.default.removeItem(atPath: nights.directory(0))
        let history = "\(nights.campaign.book!.directory)/runs.ndjson"
        let text = try String(contentsOfFile: history, encoding: .utf8)
        let bare = text.replacing(#/,"(head|tail)":\{[^}]*\}/#, with: "")
        #expect(bare.count < text.count)
        try bare.write(toFile: history, atomically: true, encoding: .utf8)
        let other = nights.stage.directory.appending(path: "other.csv").path
        try Nights.rows(500..<600).write(toFile: other, atomically: true, encoding: .utf8)
        nights.campaign.input = .files([nights.path, other])
        #expect(try nights.decision() == .refuse(.lost(nights.directory(0))))
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
            let known = try #require(try look.known(input, copied))
            // As many bytes, and other rows.
            try nights.write(Nights.rows(0..<99) + Nights.rows(200..<201).split(separator: "\n")[1] + "\n")
            #expect(try look.known(input, copied)?.files.map(\.sum) == known.files.map(\.sum))
            let now = try InputCopy(of: input.location).write(to: FileStorage(path + "-now", .new))
            #expect(try look.known(input, now)?.files.first?.sum != known.files.first?.sum)
            #expect(known.files.count == input.paths.count && known.files.allSatisfy { $0.sum != nil })
        }
    }

    @Test func `an input that is not there is waited for`() async throws {
        let nights = try Nights()
        try FileManager.default.removeItem(atPath: nights.path)
        #expect(try nights.decision() == .wait(.absent("\(nights.path): No such file or directory")))
    }

    @Test func `lines that are torn or of a later version are left out`() async throws {
        var nights = try Nights()
        _ = try await nights.send()
        // A run in its own directory would be taken in.
        nights.beside()
        let path = "\(nights.campaign.book!.directory)/runs.ndjson"
        let whole = try Data(contentsOf: URL(filePath: path))
        for length in 0..<whole.count {
            try whole.prefix(length).write(to: URL(filePath: path))
            // A killed process leaves any prefix: the run directory still says that the run is complete.
            // A line is whole without its end, as some editors leave it.
            let first = whole.firstIndex(of: UInt8(ascii: "\n")) ?? whole.count
            let isKnown = length >= first
            #expect(try nights.decision() == (isKnown ? .answer(nights.directory(0)) : .send), "\(length)")
        }
        try (Data(#"{"event":"paused","campaign":"x"}"#.utf8) + Data("\n\n".utf8) + whole).write(
            to: URL(filePath: path))
        #expect(try nights.decision() == .answer(nights.directory(0)))
    }
}
