import APNSBatch
import Foundation
import Testing

@testable import APNSBatchReport

@Suite("Report of a run in parts") struct PartsTests {
    private static func identity(_ began: String, _ ended: String) -> [String: Any] {
        [
            "id": "1e2a8c9e-2f7f-4a52-9d0c-0f5d5c6d7e8f", "version": "0.2.0", "destination": "api.push.apple.com:443",
            "input": "part.csv", "input_bytes": 9, "began": began, "ended": ended,
        ]
    }

    /// Two parts that were sent at the same time on two machines.
    private static func two() throws -> PartsStage {
        let stage = try PartsStage()
        try stage.write(rows: [1_000, 400])
        try stage.make(
            0,
            PartsStage.summary(
                1_000, rejected: 30,
                ["campaign": identity("2026-11-21T02:00:10Z", "2026-11-21T02:01:10Z"), "resent": 3]))
        try stage.make(
            1,
            PartsStage.summary(
                400, rejected: 10,
                [
                    "campaign": identity("2026-11-21T02:00:00Z", "2026-11-21T02:01:00Z"), "invalid": 2,
                    "rejected": 8, "reasons": ["Unregistered": 5, "BadDeviceToken": 3],
                    "invalid_rules": ["token-hex": ["rows": 2, "places": ["part.csv:2:1"]]],
                    "changes": [["time": 1_795_226_401, "text": "rate 500/s"]],
                ]))
        return stage
    }

    @Test("All counts are the sums of the parts, with the identity of the manifest")
    func sums() throws {
        let stage = try Self.two()
        let report = try stage.report()
        let summary = report.summary
        #expect(report.campaign == "nightly" && report.runDirectory == stage.path)
        #expect(summary.campaign.id.description == "0e2a8c9e-2f7f-4a52-9d0c-0f5d5c6d7e8f")
        #expect(summary.campaign.began == "2026-11-21T02:00:00Z" && summary.campaign.ended == "2026-11-21T02:01:10Z")
        #expect(summary.campaign.inputBytes == 14_000 && summary.campaign.destination == "api.push.apple.com:443")
        #expect(summary.rows == 1_400 && summary.accepted == 1_360 && summary.rejected == 38 && summary.invalid == 2)
        #expect(summary.reasons == ["Unregistered": 35, "BadDeviceToken": 3])
        #expect(summary.invalidRules.mapValues(\.rows) == ["token-hex": 2])
        #expect(summary.invalidRules["token-hex"]?.places == ["part.csv:2:1"])
        #expect(summary.attempts == 1_400 && summary.resent == 3 && summary.sessions == 2)
        #expect(summary.changes == [RunChange(time: 1_795_226_401, text: "part 1: rate 500/s")])
        let counts = [summary.left, summary.maybeSent, summary.notSent, summary.notRead]
        #expect(counts == [0, 0, 0, 0] && !summary.isLeftEstimated)
        let work = summary.allSessions
        #expect(work.rows == 1_400 && work.requests == 1_410 && work.connectionsOpened == 4)
        #expect(work.retries == ["429 TooManyRequests": 10] && work.connectionsEnded == ["GOAWAY Shutdown": 2])
        // Both were sent at once for 50 of 70 seconds.
        #expect(work.elapsedSeconds == 70 && abs(work.acceptedPerSecond - 1_360 / 70.0) < 1e-9)
    }

    @Test("Bins of answer times add up, and a quantile is the longest time of its bin")
    func answers() throws {
        let work = try Self.two().report().summary.allSessions
        #expect(work.answerBins?.map(\.answers) == [700, 0, 0, 0, 0, 0, 700])
        #expect(work.answerBins?.first?.upToMilliseconds == 25.11886 && work.answerBins?.last?.upToMilliseconds == 100)
        #expect(work.answerTimes?.p50 == 25.11886 && work.answerTimes?.p99 == 95 && work.answerTimes?.max == 95)
        #expect(work.answerTimes?.samples == 1_400)
    }

    @Test("Without the bins of a part there are no answer times")
    func noBins() throws {
        let stage = try Self.two()
        var summary = try PartsStage.summary(400)
        summary.allSessions.answerBins = nil
        try stage.make(1, summary)
        let work = try stage.report().summary.allSessions
        #expect(work.answerTimes == nil && work.answerBins == nil)
    }

    @Test("The verdict is that of the standard expectations on the sums")
    func verdicts() throws {
        let stage = try Self.two()
        let look = try stage.report().summary
        #expect(look.verdict.hasPrefix("LOOK: expected invalid == 0, found 2; correct the rows: "))
        #expect(look.verdict.contains("report.json") && look.exitCode == 2)
        try stage.make(1, PartsStage.summary(400, ["verdict": "LOOK: strict", "exit_code": 2]))
        let summary = try stage.report().summary
        #expect(summary.verdict.hasPrefix("OK: 1,370 of 1,400 rows accepted, 30 rejected (Unregistered 30)"))
        #expect(summary.exitCode == 0 && summary.ending == .complete)
        #expect(summary.expectations.map(\.holds) == [true, true, true, true, true])
    }

    @Test("Rows of a part that was not begun are left, and were not read")
    func notBegun() throws {
        let stage = try Self.two()
        try stage.write(rows: [1_000, 400, 70])
        let report = try stage.report()
        let summary = report.summary
        let counts = [summary.left, summary.maybeSent, summary.notSent, summary.notRead]
        #expect(counts == [70, 0, 0, 70] && summary.ending == .interrupted && summary.exitCode == 75)
        #expect(
            summary.verdict
                == "FAILED: 1 of 3 parts not begun; 3 rows may have arrived twice; 1,400 rows have ended, 70 rows are left: resume the campaign"
        )
        let part = try #require(report.parts?.last)
        #expect(part.part == 2 && part.state == .notBegun && part.rows == 70 && part.left == 70)
        #expect(report.outcomes.last?.outcome == "left" && report.outcomes.last?.rows == 70)
        #expect(report.rowsTotal == 1_470)
    }

    @Test("No part was begun: the campaign has the time of the manifest, and all rows are left")
    func nothing() throws {
        let stage = try PartsStage()
        try stage.write(rows: [5, 5], ["name": NSNull()])
        let report = try stage.report()
        #expect(report.campaign == nil && report.summary.campaign.began == "2026-11-21T01:00:00Z")
        #expect(
            report.summary.verdict
                == "FAILED: 2 of 2 parts not begun; no row has ended, 10 rows are left: resume the campaign")
        #expect(ReportText.text(report).contains("\n2 parts\n"))
        #expect(!ReportPage.html(report).contains(" to <bdi></bdi>"))
    }

    @Test("Rows of a part whose process was killed are left, and it is not known which were read")
    func killed() throws {
        let stage = try Self.two()
        try stage.make(1, nil)
        try FileManager.default.removeItem(atPath: stage.directory(1) + "/summary.json")
        let report = try stage.report()
        #expect(report.summary.rows == 1_000 && report.summary.left == 400 && report.summary.notRead == nil)
        #expect(report.parts?.map(\.state) == [.complete, .killed] && report.summary.exitCode == 75)
        #expect(
            report.summary.verdict.hasPrefix(
                "FAILED: 1 of 2 parts killed; 3 rows may have arrived twice; 1,000 rows have ended, 400 rows are"))
        // A summary of an earlier process is not that of the last one.
        try stage.make(1, PartsStage.summary(400, ["sessions": 2]))
        #expect(try stage.report().parts?.last?.state == .killed)
    }

    @Test("A part that has failed is named with its cause and a command; what it left is counted exactly")
    func failed() throws {
        let stage = try Self.two()
        try stage.make(
            1,
            PartsStage.summary(
                150,
                [
                    "ending": "failed", "cause": "cannot reach APNs", "exit_code": 69, "left": 260,
                    "left_is_estimated": true, "may_be_sent": 4, "not_sent": 6, "not_read": 250,
                    "verdict":
                        "FAILED: cannot reach APNs; 150 rows have ended, about 260 rows are left: resume the run",
                ]))
        let report = try stage.report()
        let summary = report.summary
        let counts = [summary.left, summary.maybeSent, summary.notSent, summary.notRead]
        #expect(counts == [250, 4, 6, 240] && !summary.isLeftEstimated)
        #expect(
            summary.verdict
                == "FAILED: 1 of 2 parts failed; part 1: cannot reach APNs; 3 rows may have arrived twice; 1,150 rows have ended, 250 rows are left: "
                + "resume the campaign")
        #expect(summary.ending == .failed && summary.exitCode == 69 && summary.expectations.isEmpty)
        let steps = report.nextSteps
        #expect(steps.first?.text == "Remove the cause for which part 1 failed: cannot reach APNs")
        #expect(steps.first?.command == "apns-batch resume \(stage.path)/parts/00001")
        #expect(steps.dropFirst().first?.text.contains("Start the program again") == true)
    }

    @Test(
        "A part with more rows than the manifest has, or complete with less, does not belong to it",
        arguments: [399, 401])
    func wrongRows(rows: Int) throws {
        let stage = try Self.two()
        try stage.make(1, PartsStage.summary(rows))
        let report = try stage.report()
        #expect(report.parts?.last?.state == .wrongRows && report.summary.ending == .failed)
        #expect(
            report.summary.verdict.hasPrefix("FAILED: 1 of 2 parts with wrong rows; part 1: its run has \(rows) rows"))
        #expect(!report.summary.verdict.contains("resume"))
    }

    @Test("A ledger that cannot be read is a failed part, and does not hide the others")
    func damaged() throws {
        let stage = try Self.two()
        try Data("no ledger at all, but text of another program".utf8)
            .write(to: URL(filePath: stage.directory(1) + "/ledger"))
        let report = try stage.report()
        #expect(report.parts?.map(\.state) == [.complete, .damaged] && report.summary.rows == 1_000)
        #expect(report.summary.cause?.contains("part 1: ") == true && report.summary.left == 400)
    }

    @Test("There is no report while a process works on a part, which is named")
    func atWork() throws {
        let stage = try Self.two()
        try stage.write(rows: [1_000, 400, 70])
        let record = try stage.begin(2)
        let error = try #require(throws: CampaignError.self) { try stage.report() }
        #expect(error.code == .busy && error.description.hasPrefix("\(stage.path)/parts/00002: a process is working"))
        _ = record
    }

    @Test("Text and page have a table of the parts, in which those that need attention are first")
    func table() throws {
        let stage = try Self.two()
        try stage.write(rows: [1_000, 400, 70])
        let report = try stage.report()
        let text = ReportText.text(report)
        let lines = text.split(separator: "\n").map(String.init)
        let title = try #require(lines.firstIndex(of: "Parts"))
        #expect(lines[title + 3].hasPrefix("2 ") && lines[title + 3].hasSuffix("not begun"))
        #expect(lines[title + 4].hasPrefix("0 ") && lines[title + 4].hasSuffix("  OK"))
        #expect(lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("     $ ") })
        let page = ReportPage.html(report)
        #expect(page.contains("<h2>Parts</h2>") && page.contains("<bdi>the part was not begun</bdi>"))
        #expect(!ReportPage.html(try SampleNights.sixHours()).contains("<h2>Parts</h2>"))
        let bytes = try ReportFiles.json(report)
        #expect(try JSONDecoder().decode(RunReport.self, from: Data(bytes)) == report)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        let parts = try #require(object["parts"] as? [[String: Any]])
        #expect(parts.map { $0["part"] as? Int } == [0, 1, 2] && parts[2]["state"] as? String == "not_begun")
    }

    @Test(
        "The line of a part has a member for every outcome, beside the rows of its input", arguments: Outcome.allCases)
    func outcomes(outcome: Outcome) throws {
        var line = RunReport.PartLine(3, rows: 9, .failed, verdict: "FAILED: x", cause: "x")
        (line[outcome], line.left) = (4, 5)
        let data = try JSONEncoder().encode(line)
        let members = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let names = Set(Outcome.allCases.map { "\($0.name)" })
        #expect(Set(members.keys) == names.union(["part", "rows", "left", "state", "verdict", "cause"]))
        #expect(members["\(outcome.name)"] as? Int == 4 && members["rows"] as? Int == 9)
        #expect(try JSONDecoder().decode(RunReport.PartLine.self, from: data) == line)
        let rest = try JSONSerialization.data(withJSONObject: members.filter { !names.contains($0.key) })
        #expect(try JSONDecoder().decode(RunReport.PartLine.self, from: rest)[outcome] == 0)
    }

    @Test("Of many parts, text and page show some, and a sentence says how many others there are")
    func many() throws {
        let parts = (0..<1_000).map { number in
            RunReport.PartLine(
                number, rows: 1, number % 100 == 99 ? .killed : .complete,
                verdict: number == 7 ? "LOOK: rows are invalid" : "OK: all")
        }
        let choice = PartChoice(parts, most: 12)
        #expect(choice.lines.map(\.part) == (1...10).map { 100 * $0 - 1 } + [7, 0])
        #expect(choice.rest == "and 988 more parts (988 OK)")
        #expect(PartChoice(parts, most: 9).rest == "and 991 more parts (1 killed, 1 LOOK, 989 OK)")
        #expect(PartChoice(parts, most: 1_000).rest == nil)
        let report = RunReport(
            "/runs/it", try SampleNights.summary(), ReportContext(), earlier: [], course: nil, parts: parts)
        let text = ReportText.text(report)
        let table = try #require(text.components(separatedBy: "\nParts\n").last?.components(separatedBy: "\n\n").first)
        #expect(table.split(separator: "\n").count <= 51 && table.contains("and 952 more parts (952 OK): see"))
        #expect(ReportPage.html(report).contains("and 500 more parts (500 OK): see report.json"))
    }

    @Test("Nothing of a manifest or of a cause becomes markup or moves the text around it")
    func hostile() throws {
        let hostile = "<script>alert(1)</script>\u{202E}drawkcab\u{1B}[31m\nnext {{verdict}}"
        let stage = try PartsStage()
        try stage.write(rows: [10], ["name": hostile])
        let failed: [String: Any] = [
            "ending": "failed", "cause": hostile, "exit_code": 69, "left": 3, "verdict": "FAILED: \(hostile)",
            "changes": [["time": 1_795_226_401, "text": hostile]],
        ]
        try stage.make(0, PartsStage.summary(7, failed))
        let report = try stage.report()
        let page = ReportPage.html(report)
        #expect(!page.contains("<script") && page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
        #expect(page.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0.value != 0x202E })
        #expect(page.components(separatedBy: "{{verdict}}").count > 4)
        let lines = ReportText.text(report).split(separator: "\n")
        #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E } })
        #expect(lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("     $ ") })
    }
}
