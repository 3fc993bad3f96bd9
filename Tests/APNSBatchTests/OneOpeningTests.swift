import APNSBatchBasics
import APNSBatchRecords
import APNSBatchSending
import Foundation
import Glibc
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("One opening of the input") struct OneOpeningTests {
    /// Everything that looks at the rows of a file before the first push.
    private static func demanding(_ stage: Stage, rows: Int) throws -> StagedCampaign {
        var generator = SystemRandomNumberGenerator()
        var tokens: [String] = []
        for _ in 0..<rows {
            tokens.append((0..<4).map { _ in hex(generator.next()) }.joined())
        }
        var campaign = try stage.campaign(rows: "token,name\n" + tokens.map { "\($0),Ada\n" }.joined())
        campaign.template = Campaign.Template(json: Array(#"{"aps":{"alert":"Hi {{name}}"}}"#.utf8), name: "t")
        campaign.minRows = 10
        campaign.expectations = [
            try CampaignExpectation("rows >= 10"), try CampaignExpectation("rows <= 1000000"),
            try CampaignExpectation("invalid <= 50%"),
        ]
        campaign.inputAgeLimit = .seconds(3600)
        campaign.circuitBreaker.shares = [Campaign.CircuitBreaker.invalidRows: .percent(50)]
        return campaign
    }

    private static func hex(_ word: UInt64) -> String {
        let text = String(word, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// A disk on which little is left, so that the rows are counted for it.
    private static var tightDisk: Surroundings {
        var surroundings = Surroundings()
        surroundings.freeBytes = { _ in 100_000_000 }
        return surroundings
    }

    private static func pack(_ path: String, _ packing: String) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "\(packing) -c '\(path)' > '\(path).packed'"]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return path + ".packed"
    }

    private static func path(_ campaign: StagedCampaign) -> String {
        if case .file(let path) = campaign.input { path } else { "" }
    }

    @Test(
        "A file is opened once before the first push, and not again while it is sent", arguments: [nil, "gzip", "zstd"])
    func oneOpening(packing: String?) async throws {
        let stage = try Stage()
        var campaign = try Self.demanding(stage, rows: 20_000)
        if let packing { campaign.input = .file(try Self.pack(Self.path(campaign), packing)) }
        let openings = try Openings(of: Self.path(campaign))
        let run = try CampaignRun(campaign, surroundings: Self.tightDisk)
        #expect(openings.next == 1)
        let summary = try await run.send()
        #expect(summary.accepted == 20_000 && summary.ending == .complete)
        #expect(openings.next == 0)
    }

    @Test("A file of JSON lines, too, whose first rows are looked at") func oneOpeningOfLines() async throws {
        let stage = try Stage()
        var campaign = try Self.demanding(stage, rows: 100)
        let lines = (0..<5000).map { "{\"token\":\"\(token($0))\",\"name\":\"Ada\"}\n" }.joined()
        campaign.input = .file(try stage.write(lines, to: "rows.ndjson"))
        let openings = try Openings(of: Self.path(campaign))
        let run = try CampaignRun(campaign)
        #expect(openings.next == 1)
        #expect(try await run.send().accepted == 5000)
        #expect(try stage.results(run).count == 5000)
    }

    @Test("The rules of a campaign look at the file by the opening of its rows") func oneOpeningWithRules() async throws
    {
        let stage = try Stage()
        var campaign = try Self.demanding(stage, rows: 5000)
        campaign.book = Campaign.BookRules(
            directory: stage.directory.appending(path: "nights").path, nightBegan: UInt64(time(nil)) - 10)
        let openings = try Openings(of: Self.path(campaign))
        let run = try CampaignRun(campaign)
        #expect(openings.next == 1)
        #expect(try await run.send().accepted == 5000)
        let entries = try RunHistory(try #require(campaign.book).directory).entries().all
        let begun = entries.compactMap { if case .began(let run) = $0 { run } else { nil } }
        let known = try #require(begun.first?.input?.files.first)
        #expect(known.head != nil && known.tail != nil && known.length == known.bytes)
    }

    @Test("A packed file is unpacked once before the first push", arguments: ["gzip", "zstd"])
    func oneUnpacking(packing: String) throws {
        let stage = try Stage()
        var campaign = try Self.demanding(stage, rows: 60_000)
        let path = try Self.pack(Self.path(campaign), packing)
        campaign.input = .file(path)
        let size = try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
        let before = try bytesReadByThread()
        _ = try CampaignRun(campaign, surroundings: Self.tightDisk)
        let read = try bytesReadByThread() - before
        #expect(read >= size && read < size + size / 2, "\(read) of \(size)")
    }

    @Test("What replaces a file that is open is not sent") func replaced() async throws {
        let stage = try Stage()
        let campaign = try Self.demanding(stage, rows: 1000)
        let run = try CampaignRun(campaign)
        let other = try stage.write("token,name\n" + token(1) + ",Eve\n", to: "other.csv")
        try #require(rename(other, Self.path(campaign)) == 0)
        #expect(try await run.send().accepted == 1000)
    }

    @Test("The history has the time of the file that is open, and not of one that takes its name meanwhile")
    func timeOfTheOpenFile() async throws {
        let stage = try Stage()
        var campaign = try Self.demanding(stage, rows: 1000)
        campaign.book = Campaign.BookRules(
            directory: stage.directory.appending(path: "nights").path, nightBegan: UInt64(time(nil)) - 10)
        let (path, other) = (Self.path(campaign), Self.path(campaign) + ".other")
        try FileManager.default.copyItem(atPath: path, toPath: other)
        let opened = try #require(KnownInput.File(at: path))
        var surroundings = Surroundings()
        // Is asked while the rows are looked at.
        surroundings.freeBytes = { _ in
            utimes(other, [timeval(tv_sec: 1_700_000_000, tv_usec: 0), timeval(tv_sec: 1_700_000_000, tv_usec: 0)])
            rename(other, path)
            return .max
        }
        _ = try await CampaignRun(campaign, surroundings: surroundings).send()
        try #require(KnownInput.File(at: path)?.modified == 1_700_000_000_000_000_000)
        let entries = try RunHistory(try #require(campaign.book).directory).entries().all
        let begun = entries.compactMap { if case .began(let run) = $0 { run } else { nil } }
        let known = try #require(begun.first?.input?.files.first)
        #expect(known.modified == opened.modified && known.name == opened.name && known.bytes == opened.bytes)
    }

    @Test("A time that passes while the rows are looked at refuses the run", arguments: [false, true])
    func lateAfterTheLook(byExpiration: Bool) throws {
        let stage = try Stage()
        var campaign = try Self.demanding(stage, rows: 1000)
        let began = SystemClock.seconds()
        if byExpiration { campaign.headers.expiration = .at(began + 60) } else { campaign.notAfter = .at(began + 60) }
        let hasPassed = Guarded(false)
        var surroundings = Surroundings()
        surroundings.seconds = { began + (hasPassed.withLock { $0 } ? 120 : 0) }
        // Is asked while the rows are looked at.
        surroundings.freeBytes = { _ in
            hasPassed.withLock { $0 = true }
            return .max
        }
        let error = #expect(throws: CampaignError.self) {
            _ = try CampaignRun(campaign, surroundings: surroundings)
        }
        #expect(error?.code == .configuration && error?.description.contains("expected a time in the future") == true)
        let directory = try #require(campaign.runDirectory)
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test("A run that is refused leaves nothing behind", arguments: [false, true])
    func refusedLeavesNothing(isCopied: Bool) throws {
        let stage = try Stage()
        var campaign = try Self.demanding(stage, rows: 1000)
        campaign.runDirectory = stage.directory.appending(path: "run").path
        campaign.stateDirectory = stage.directory.appending(path: "state").path
        campaign.template = Campaign.Template(json: Array(#"{"aps":{"alert":"Hi {{nmae}}"}}"#.utf8), name: "t")
        if isCopied { campaign.input = .files([Self.path(campaign)]) }
        #expect(throws: CampaignError.self) { _ = try CampaignRun(campaign) }
        let state = try #require(campaign.stateDirectory)
        #expect(!FileManager.default.fileExists(atPath: state))
    }
}

/// Counts how often a file is opened, by this process or others.
private final class Openings {
    private let events: Int32

    init(of path: String) throws {
        events = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        // Equal events that follow each other count once, so others are watched that come between two openings.
        let watch = inotify_add_watch(events, path, UInt32(IN_OPEN | IN_ACCESS | IN_CLOSE_NOWRITE))
        try #require(events >= 0 && watch >= 0)
    }

    deinit { close(events) }

    /// The number of openings since the last call.
    var next: Int {
        var count = 0
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while case let got = read(events, &bytes, bytes.count), got > 0 {
            bytes.withUnsafeBytes { bytes in
                var at = 0
                while at < got {
                    let event = bytes.loadUnaligned(fromByteOffset: at, as: inotify_event.self)
                    if event.mask & UInt32(IN_OPEN) != 0 { count += 1 }
                    at += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
        }
        return count
    }
}

/// How many bytes this thread has read from files.
private func bytesReadByThread() throws -> Int {
    let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar:") })
    return try #require(Int(line.dropFirst("rchar:".count).trimmingCharacters(in: .whitespaces)))
}
