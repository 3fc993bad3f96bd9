import APNSBatch
import Foundation
import Testing

@testable import APNSBatchReport

@Suite("Report") struct ReportTests {
    /// Texts as a hostile peer or a strange file system could have them.
    private static let hostile = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "{{verdict}}{{{style}}}", "a&b;&lt;",
        "\u{202E}drawkcab\u{1B}[31m\nnext\u{0}", String(repeating: "x", count: 256), "日本語 ünïcode",
    ]

    static func hostileReport() throws -> RunReport {
        let reasons = Dictionary(uniqueKeysWithValues: hostile.enumerated().map { ($1, 100 + $0) })
        let name = hostile.joined(separator: "/")
        let summary = try SampleNights.summary([
            "reasons": reasons, "unavailable_reasons": reasons, "ending": "failed", "left": 77, "exit_code": 69,
            "verdict": "FAILED: \(hostile[0])\(hostile[4]); resume the run", "cause": hostile[0],
            "invalid_rules": [hostile[1]: ["rows": 3, "places": ["\(name):1:1"]]],
            "expectations": [],
            "campaign": [
                "id": "0e2a8c9e-2f7f-4a52-9d0c-0f5d5c6d7e8f", "version": hostile[1], "destination": hostile[0],
                "input": name, "input_bytes": 9,
                "began": "2026-11-21T02:00:00Z", "ended": "2026-11-21T08:00:00Z",
            ],
        ])
        return SampleNights.report(summary, SampleNights.points(seconds: 30), directory: "/runs/\(name)")
    }

    @Test("Nothing that comes from outside becomes markup")
    func escaping() throws {
        let page = ReportPage.html(try Self.hostileReport())
        for tag in ["<script", "<img", "<b>x", "onerror=alert(1)>"] { #expect(!page.contains(tag), "\(tag)") }
        #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("{{verdict}}"))
        #expect(page.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0.value != 0x202E })
        // Every tag is one of ours.
        let tags = Set(
            page.matches(of: #/<([a-zA-Z!\/][^\s>]*)/#).map { String($0.output.1) }.map { $0.trimmingPrefix("/") })
        let own: Set<Substring> = [
            "!doctype", "!--", "html", "head", "meta", "title", "style", "body", "header", "h1", "b", "p", "main", "h2",
            "div", "table", "thead", "tbody", "tr", "th", "td", "i", "span", "bdi", "section", "figure", "figcaption",
            "ul",
            "ol", "li", "svg", "desc", "line", "text", "path", "rect", "g", "dl", "dt", "dd", "pre", "code",
        ]
        #expect(tags.isSubset(of: own), "\(tags.subtracting(own))")
    }

    @Test("A summary whose id is not a UUID is not read")
    func campaignID() throws {
        for text in Self.hostile {
            let json = try JSONSerialization.data(withJSONObject: [text])
            #expect(throws: DecodingError.self) { try JSONDecoder().decode([CampaignID].self, from: json) }
        }
    }

    @Test("Letters that are written from right to left do not move the text around them")
    func directions() throws {
        let hebrew = "\u{5D0}\u{5D1}\u{5D2}"
        let report = SampleNights.report(
            try SampleNights.summary([
                "verdict": "FAILED: \(hebrew)", "reasons": [hebrew: 1],
                "changes": [["time": SampleNights.begin + 1, "text": hebrew]],
                "invalid_rules": ["token-hex": ["rows": 1, "places": [hebrew]]],
            ]), SampleNights.points(seconds: 30), directory: hebrew)
        for page in [ReportPage.html(report), ComparisonPage.html(RunComparison([report, report]))] {
            let body = try #require(page.components(separatedBy: "<body>").last)
            let isolated = body.components(separatedBy: "<bdi>\(hebrew)</bdi>").count
            // The title of a plot that is read aloud is text alone, and a command is copied as it is.
            let alone = body.replacing(#/<title[^>]*>[^<]*<\/title>|<pre>.*?<\/pre>/#, with: "")
            #expect(isolated > 3 && alone.components(separatedBy: hebrew).count == isolated)
        }
    }

    @Test("The explanation of a reason is as wide as the table")
    func explanation() throws {
        for (earlier, columns) in [([], 3), (try SampleNights.nights(), 4)] {
            let report = SampleNights.report(try SampleNights.summary(), [], earlier: earlier)
            let table = try #require(
                ReportPage.html(report).components(separatedBy: "<h2>Reasons of APNs</h2>").last?
                    .components(separatedBy: "</table>").first)
            #expect(table.components(separatedBy: "<th scope=\"col\"").count == columns + 1)
            #expect(table.components(separatedBy: "colspan=\"\(columns)\"").count == 3)
        }
    }

    @Test("The page needs no other file: no link, no script, no address")
    func alone() throws {
        for page in [ReportPage.html(try SampleNights.sixHours()), ReportPage.html(try Self.hostileReport())] {
            for word in ["http:", "https:", "src=\"", "href=", "url(", "@import", "<link"] {
                #expect(!page.contains(word), "\(word)")
            }
        }
    }

    @Test("A night of six hours is a page of less than 300 KiB, with all plots")
    func size() throws {
        let report = try SampleNights.sixHours()
        let page = ReportPage.html(report)
        #expect(page.utf8.count < 300 * 1024, "\(page.utf8.count) bytes")
        #expect(try ReportFiles.json(report).count < 300 * 1024)
        let titles = page.matches(of: #/<title id="[^"]*">([^<]*)<\/title><desc id="[^"]*">[^<]+/#).map {
            String($0.output.1)
        }
        #expect(
            titles == [
                "Throughput", "Outcomes", "Rows that were not accepted", "Answer times", "Streams", "Connections",
                "Retries",
                "Rows that wait", "Distribution of answer times",
            ])
    }

    @Test("A run of a second has no plots over time, and says so")
    func second() throws {
        let page = ReportPage.html(SampleNights.report(try SampleNights.summary(), SampleNights.points(seconds: 1)))
        #expect(page.contains("too short for plots") && page.components(separatedBy: "<svg class=\"plot\"").count == 2)
    }

    @Test("The text has at most 80 columns, apart from commands, and the verdict is first")
    func text() throws {
        for report in [try SampleNights.sixHours(), try Self.hostileReport()] {
            let lines = ReportText.text(report).split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("     $ ") }, "\(lines.filter { $0.count > 80 })")
            #expect(lines.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E } })
        }
        let text = ReportText.text(try SampleNights.sixHours())
        #expect(text.hasPrefix("LOOK: expected invalid == 0, found 1,000; correct the rows\n"))
        #expect(text.contains("NOT MET     invalid == 0, found 1,000\n"))
        #expect(text.contains("accepted                       970,000       97 %         969,750\n"), "\(text)")
        #expect(text.contains("invalid                          1,000      0.1 %               0 unusual\n"), "\(text)")
    }

    @Test("Rows that may have arrived twice, duplicates and lost figures of killed sessions are in text and page")
    func remarks() throws {
        var summary = try SampleNights.summary([
            "resent": 159, "sessions": 2, "killed_sessions": 1, "attempts": 1_050_000,
        ])
        summary.allSessions.answerTimes?.samples = 900_000
        summary.allSessions.answerTimes?.max = 1_150
        summary.lastSession.duplicateTokens = try JSONDecoder().decode(
            DuplicateTokens.self, from: Data(#"{"rows":12,"sampled_one_in":1,"examples":[[3,77]]}"#.utf8))
        summary.lastSession.unusualTokens = try JSONDecoder().decode(
            UnusualTokens.self, from: Data(#"{"rows":1,"examples":[9]}"#.utf8))
        let first = Array(SampleNights.points(seconds: 60).dropLast())
        let report = SampleNights.report(
            summary, first + SampleNights.points(seconds: 60, session: 2, from: SampleNights.begin + 70))
        #expect(report.course?.events.map(\.text) == ["session 2 begins; session 1 was killed"])
        let longest = try #require(report.course?.answerTimes.max.compactMap(\.self).max())
        let text = ReportText.text(report).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let page = ReportPage.html(report)
        for part in [
            "159 rows were sent again although an earlier request may have arrived, so that they may have arrived twice.",
            "12 rows have the token of another row: rows 3 and 77, … (of the rows of the last session).",
            "A token has a size other than 32 bytes: row 9 (of the rows of the last session).",
            "1 of 2 sessions was killed.",
            "The times of answers are those of 900,000 of at least 999,000 answers.",
            "at least 1,050,000", "max \(FigureText.milliseconds(max(longest, 1_150)))",
        ] {
            #expect(text.contains(part), "\(part): \(text)")
            #expect(page.contains(part), "\(part)")
        }
        let clean = SampleNights.report(try SampleNights.summary(), SampleNights.points(seconds: 60))
        // A comparison says the same.
        let compared = ComparisonPage.html(RunComparison([clean, report]))
        for part in ["≥ 1,050,000", ">may have arrived twice<", ">159<", FigureText.milliseconds(max(longest, 1_150))] {
            #expect(compared.contains(part), "\(part): \(compared)")
        }
        #expect(clean.remarks.isEmpty && !ReportText.text(clean).contains("at least"))
        #expect(!ReportPage.html(clean).contains("<ul class=\"remarks\">"))
    }

    @Test("Rows that a later process sent again are requests that were sent again")
    func repeats() throws {
        var summary = try SampleNights.summary(["resent": 228, "sessions": 2, "killed_sessions": 1])
        func figure() -> String? {
            SampleNights.report(summary, []).speed.first { $0.name == "requests sent again" }?.value
        }
        func compared() -> [String]? {
            RunComparison([SampleNights.report(summary, [])]).lines.first { $0.name == "requests sent again" }?.values
        }
        #expect(figure() == "at least 20,000 (429 TooManyRequests 20,000)")
        summary.allSessions.retries = [:]
        #expect(figure() == "at least 228" && compared() == ["≥ 228"])
        // A process that ended in order leaves rows without an answer, too.
        summary.killedSessions = nil
        #expect(figure() == "at least 228" && compared() == ["≥ 228"])
        summary.allSessions.retries = ["no answer": 300]
        #expect(figure() == "300 (no answer 300)" && compared() == ["300"])
    }

    @Test("Rows by the values of a column are in text and page, hostile values as text")
    func breakdowns() throws {
        let groups = (0..<30).map { index in
            [
                "value": index == 0 ? "<b>\u{202E}\n" : index == 1 ? "" : "segment \(index)", "rows": 1_000,
                "outcomes": ["accepted": 900, "rejected": 60, "expired": 40],
            ] as [String: Any]
        }
        let others = ["rows": 7, "outcomes": ["rejected": 7]] as [String: Any]
        let summary = try SampleNights.summary([
            "breakdowns": [["column": "segment", "values": groups, "others": others] as [String: Any]]
        ])
        let report = SampleNights.report(summary, [])
        let text = ReportText.text(report)
        #expect(text.contains("\nBy segment\n----------\n"))
        #expect(
            text.contains("(empty)                      1,000         900       90 %          60         40\n"),
            "\(text)")
        // Ten values are counted with the seven rows of others.
        #expect(
            text.contains("\nall others                  10,007       9,000     89.9 %         607        400\n"),
            "\(text)")
        #expect(text.contains("\n10 of the other values are in report.json.\n"), "\(text)")
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 || $0.hasPrefix("     $ ") })
        let page = ReportPage.html(report)
        #expect(!page.contains("<b>\u{202E}") && page.contains("&lt;b&gt;") && page.contains(">segment 2<"))
        #expect(page.contains("<bdi>all others</bdi>") && page.contains(">expired</th>"))
        #expect(page.contains("10 of the other values are in report.json."))
        #expect(try JSONDecoder().decode(RunReport.self, from: Data(try ReportFiles.json(report))) == report)
    }

    @Test("The JSON form has the units in its names, and is read back as it was written")
    func json() throws {
        let report = try SampleNights.sixHours()
        let bytes = try ReportFiles.json(report)
        #expect(try JSONDecoder().decode(RunReport.self, from: Data(bytes)) == report)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(
            object.keys.sorted() == [
                "campaign", "course", "local_time", "next_steps", "nights", "outcomes", "reasons", "report_version",
                "run_dir",
                "settings", "summary",
            ])
        let course = try #require(object["course"] as? [String: Any])
        #expect(
            course.keys.sorted() == [
                "answer_ms", "begins_unix_ms", "connections", "events", "holds", "interval_seconds", "intervals",
                "rate_limit_per_second", "requests_in_flight", "requests_per_second", "retries_per_second",
                "rows_per_second",
                "rows_waiting", "streams_allowed",
            ])
        #expect((course["connections"] as? [Any])?.count == course["intervals"] as? Int)
    }

    @Test("Several runs are compared figure by figure, in text of 80 columns and in a page with a plot for each")
    func comparison() throws {
        let hostile = try Self.hostileReport()
        let comparison = RunComparison([try SampleNights.sixHours(), hostile])
        let lines = Dictionary(uniqueKeysWithValues: comparison.lines.map { ($0.name, $0.values) })
        #expect(lines["verdict"] == ["LOOK", "FAILED"] && lines["left"] == ["0", "77"])
        #expect(lines["Unregistered"] == ["28,000", "0"] && lines["rows"] == ["1,000,000", "1,000,077"])
        #expect(comparison.lines.first { $0.name == "left" }?.shares == ["", "< 0.01 %"])
        let page = ComparisonPage.html(comparison)
        #expect(!page.contains("<script") && page.components(separatedBy: "<svg class=\"plot\"").count == 3)
        let text = ComparisonText.text(comparison).split(separator: "\n")
        #expect(text.count == 3 && text.allSatisfy { $0.count <= 80 }, "\(text)")
    }

    @Test("Fourteen nights are two tables of seven, each with the names of its figures")
    func fortnight() throws {
        let nights = try (1...14).map { night in
            SampleNights.report(
                try SampleNights.summary(), SampleNights.points(seconds: 60), directory: "/runs/nightly/night \(night)")
        }
        let page = ComparisonPage.html(RunComparison(nights))
        let tables = page.components(separatedBy: "<table class=\"runs\">").dropFirst()
        #expect(tables.count == 2)
        for table in tables {
            #expect(table.components(separatedBy: "<th scope=\"col\"").count == 8)
            #expect(table.contains("<bdi>accepted</bdi></th>"))
        }
        #expect(page.contains(">11-21 03:00<") && !page.contains(">2026-11-21 03:00:00<"))
        #expect(page.contains("<div class=\"plots\">"), "no plot is wider than another")
        let eight = ComparisonPage.html(RunComparison(Array(nights.prefix(8))))
        #expect(
            eight.components(separatedBy: "<table class=\"runs\">").dropFirst().allSatisfy {
                $0.components(separatedBy: "<th scope=\"col\"").count == 5
            })
    }

    @Test("A failed run can be resumed with the command of the first step, whatever its directory is called")
    func steps() throws {
        let failed = try SampleNights.summary([
            "ending": "failed", "exit_code": 69, "left": 10, "unavailable": 5, "unknown": 2,
        ])
        let report = SampleNights.report(failed, [], directory: "/runs/it's here")
        #expect(
            report.nextSteps.prefix(3).map(\.command) == [
                "apns-batch resume '/runs/it'\\''s here'",
                "apns-batch resume --retry-unavailable '/runs/it'\\''s here'", nil,
            ])
        let clean = try SampleNights.summary(["rejected": 0, "reasons": [:], "invalid": 0, "invalid_rules": [:]])
        #expect(SampleNights.report(clean, []).nextSteps.isEmpty)
        #expect(ReportPage.html(SampleNights.report(clean, [])).contains("<p>Nothing.</p>"))
        let other: [String: Any] = [
            "campaign": "nightly", "began": "2026-11-21T03:00:00Z", "run_dir": "/runs/b", "at_work": true,
            "lost": false, "left": 1406,
        ]
        let beside = try SampleNights.summary([
            "rejected": 0, "reasons": [:], "invalid": 0, "invalid_rules": [:], "unfinished": [other],
        ])
        #expect(
            SampleNights.report(beside, []).nextSteps.map(\.command) == ["apns-batch status --follow /runs/b"])
    }
}
