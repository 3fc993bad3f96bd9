import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

/// Tests of the history of runs in a state directory.
@Suite final class RunHistoryTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "apns-batch-\(UUID().uuidString)")
        .path
    private var path: String { directory + "/runs.ndjson" }
    private var history: RunHistory { RunHistory(directory) }

    init() throws { try RunHistory(directory).prepare() }
    deinit { try? FileManager.default.removeItem(atPath: directory) }

    private func run(
        _ day: Int, campaign: String = "nightly", ending: String = "complete", accepted: UInt64 = 1
    ) -> RecordedRun {
        var figures = RunFigures()
        figures.accepted = accepted
        return RecordedRun(
            campaign: campaign, runDirectory: "/runs/\(day)", began: "2026-11-\(10 + day)T03:00:00Z",
            ended: "2026-11-\(10 + day)T03:10:00Z", ending: ending, exitCode: 0, verdict: "OK: \"\(day)\"\n",
            figures: figures)
    }

    private func text() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test func `a history that does not exist is empty, and directory and file are for the owner only`() throws {
        #expect(try RunHistory(directory + "/nothing").runs() == [])
        #expect(try history.runs() == [])
        for (path, mode) in [(directory, 0o700), (path, 0o600)] {
            let mode16 = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode16 == mode)
        }
    }

    @Test func `the last line of a run counts, and runs are in the order of their beginnings`() throws {
        let (first, second) = (run(1, ending: "interrupted"), run(2))
        try history.add(second)
        try history.add(first)
        try history.add(run(1, accepted: 7))
        #expect(try history.runs() == [run(1, accepted: 7), second])
        #expect(try text().split(separator: "\n").count == 3)
    }

    @Test
    func `runs that began in the same second are in the order of their ends, whatever their directories are called`()
        throws
    {
        var runs = (1...6).map { run($0) }
        for index in runs.indices {
            (runs[index].runDirectory, runs[index].began) = ("/runs/\(9 - index)", runs[0].began)
        }
        for run in runs { try history.add(run) }
        #expect(try history.runs() == runs)
    }

    @Test func `the same line is not added twice`() throws {
        try history.add(run(1))
        try history.add(run(1))
        #expect(try text().split(separator: "\n").count == 1)
    }

    @Test func `figures are those of the campaign's complete runs before a time`() throws {
        for day in 1...4 { try history.add(run(day, ending: day == 2 ? "failed" : "complete", accepted: UInt64(day))) }
        try history.add(run(5, campaign: "weekly"))
        #expect(try history.figures(of: "nightly").map(\.accepted) == [1, 3, 4])
        #expect(try history.figures(of: "nightly", before: run(4).began).map(\.accepted) == [1, 3])
    }

    @Test func `corrections have few rows, and do not count in medians`() throws {
        for day in 1...3 { try history.add(run(day, accepted: UInt64(day))) }
        var correction = run(4, accepted: 4)
        correction.correctionOf = "/runs/1"
        try history.add(correction)
        #expect(try history.runs().last == correction)
        #expect(try history.figures(of: "nightly").map(\.accepted) == [1, 2, 3])
    }

    /// A process may be killed after any byte.
    @Test func `an incomplete last line is ignored at every length, and removed by the next writer`() throws {
        try history.add(run(1))
        try history.add(run(2))
        let whole = try Data(contentsOf: URL(filePath: path))
        let first = try #require(whole.firstIndex(of: UInt8(ascii: "\n"))) + 1
        for length in first..<whole.count {
            try whole.prefix(length).write(to: URL(filePath: path))
            // A line that lacks only its line feed is whole.
            let runs = length < whole.count - 1 ? [run(1)] : [run(1), run(2)]
            #expect(try history.runs() == runs, "\(length)")
            try history.add(run(3))
            #expect(try history.runs() == runs + [run(3)], "\(length)")
            #expect(try text().split(separator: "\n").count == runs.count + 1)
        }
    }

    @Test func `lines that cannot be understood are left out`() throws {
        try history.add(run(1))
        try Data("{\"campaign\":5}\nnot JSON\n\n\0\n".utf8).write(to: URL(filePath: path))
        try history.add(run(2))
        #expect(try history.runs() == [run(2)])
    }

    @Test func `lines of many writers at the same time are all kept whole`() async throws {
        let history = history
        let lines = (1...40).map { number in
            var line = run(number % 10)
            line.runDirectory = "/runs/\(number)"
            return line
        }
        try await withThrowingTaskGroup { group in
            for line in lines { group.addTask { try history.add(line) } }
            try await group.waitForAll()
        }
        #expect(Set(try history.runs().map(\.runDirectory)) == Set(lines.map(\.runDirectory)))
        #expect(try text().split(separator: "\n").count == lines.count)
    }

    @Test func `a state directory that is a file is a configuration error`() throws {
        #expect { try RunHistory(path).prepare() } throws: { ($0 as? CampaignError)?.code == .configuration }
    }
}
