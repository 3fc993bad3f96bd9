import APNSBatch
import Foundation
import Testing

@testable import APNSBatchReport

@Suite("Manifest of a run in parts") struct ManifestTests {
    @Test("Parts are ordered by number, and their directories have at least five digits and no path of the manifest")
    func parts() throws {
        let stage = try PartsStage()
        let parts = [1_234_567, 3, 0].map { ["part": $0, "bytes": 1, "rows": 2] }
        try stage.write(PartsStage.manifest.merging(["parts": parts]) { $1 })
        let run = try #require(try DistributedRun(ifIn: stage.path))
        #expect(run.manifest.parts.map(\.number) == [0, 3, 1_234_567] && run.manifest.bytes == 3)
        let directories = run.manifest.parts.map { PartDirectory($0.number, in: "/run").path }
        #expect(directories == ["/run/parts/00000", "/run/parts/00003", "/run/parts/1234567"])
    }

    @Test("A directory with a ledger, or without a manifest, is not one of a run in parts")
    func others() throws {
        let stage = try PartsStage()
        #expect(try DistributedRun(ifIn: stage.path) == nil)
        #expect(try DistributedRun(ifIn: stage.path + "/none") == nil)
        try stage.write(rows: [1])
        #expect(try DistributedRun(ifIn: stage.path) != nil)
        try Data().write(to: URL(filePath: stage.path + "/ledger"))
        #expect(try DistributedRun(ifIn: stage.path) == nil)
    }

    static let wrong: [(members: [String: any Sendable], text: String)] = [
        (["format": 2], "format: expected 1, found 2"),
        (["format": "1"], "format: expected a whole number"),
        (["campaign_id": "nightly"], "campaign_id: expected a UUID"),
        (["name": 3], "name: expected a text"),
        (["began": "yesterday"], "began: expected a time such as 2026-11-25T10:00:00Z"),
        (["parts": 3], "parts: expected a list"),
        (["parts": [["part": 0, "bytes": 1, "rows": 1], ["part": 1, "bytes": 1]]], "parts[1].rows: it is missing"),
        (["parts": [["part": 0, "bytes": 1, "rows": -1]]], "parts[0]: expected 0 to 1099511627776 rows and bytes"),
        (["parts": [["part": -1, "bytes": 1, "rows": 1]]], "parts[0].part: expected 0 to 9999999, found -1"),
        (
            ["parts": [["part": 0, "bytes": 1, "rows": 1 << 41]]],
            "parts[0]: expected 0 to 1099511627776 rows and bytes"
        ),
        (
            ["parts": [["part": 0, "bytes": 1, "rows": 1.5]]],
            "expected an object of JSON with whole numbers; the file was cut, or is of another program"
        ),
        (
            ["parts": [["part": 4, "bytes": 1, "rows": 1], ["part": 4, "bytes": 1, "rows": 1]]],
            "parts: part 4 is there twice"
        ),
    ]

    @Test("What is wrong in a manifest is named with file and place", arguments: wrong.indices)
    func faults(index: Int) throws {
        let stage = try PartsStage()
        try stage.write(rows: [1], Self.wrong[index].members)
        let error = try #require(throws: CampaignError.self) { try DistributedRun(ifIn: stage.path) }
        #expect(error.code == .results)
        #expect(error.description == "\(stage.path)/manifest.json: \(Self.wrong[index].text)")
    }

    @Test(
        "A manifest that was cut, is empty or is no object is refused",
        arguments: ["", "{\"format\": 1, \"par", "[]", "\u{0}"])
    func cut(text: String) throws {
        let stage = try PartsStage()
        try stage.write(text)
        let error = try #require(throws: CampaignError.self) { try DistributedRun(ifIn: stage.path) }
        #expect(
            error.description
                == "\(stage.path)/manifest.json: expected an object of JSON with whole numbers; the file was cut, or is of another program"
        )
    }

    @Test("A manifest of more than 256 MiB or a million parts, or that is no file, is refused")
    func limits() throws {
        let stage = try PartsStage()
        try stage.write("")
        #expect(truncate(stage.path + "/manifest.json", 256 << 20 + 1) == 0)
        let long = try #require(throws: CampaignError.self) { try DistributedRun(ifIn: stage.path) }
        #expect(long.description.hasSuffix("manifest.json: expected at most 268435456 bytes, found 268435457"))
        let parts = (0...1_000_000).map { "{\"part\":\($0),\"bytes\":0,\"rows\":0}" }.joined(separator: ",")
        try stage.write(
            "{\"format\":1,\"campaign_id\":\"0e2a8c9e-2f7f-4a52-9d0c-0f5d5c6d7e8f\",\"began\":\"2026-11-21T01:00:00Z\","
                + "\"parts\":[\(parts)]}")
        let many = try #require(throws: CampaignError.self) { try DistributedRun(ifIn: stage.path) }
        #expect(many.description.hasSuffix("parts: expected at most 1000000, found 1000001"))
        try FileManager.default.removeItem(atPath: stage.path + "/manifest.json")
        try FileManager.default.createDirectory(
            atPath: stage.path + "/manifest.json", withIntermediateDirectories: true)
        let directory = try #require(throws: CampaignError.self) { try DistributedRun(ifIn: stage.path) }
        #expect(directory.description.contains("manifest.json"))
    }
}
