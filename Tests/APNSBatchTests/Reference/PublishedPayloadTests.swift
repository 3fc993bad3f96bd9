import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

/// Tests that send the payloads of Apple's guides of 2011 and today, of a tutorial and of a large provider as rows of a
/// campaign.
@Suite("Published payloads") struct PublishedPayloadTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/payloads")

    /// The payloads that have a compact form. The others contain errors on purpose.
    private static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return files.filter { $0.hasSuffix(".compact.json") }.map { $0.replacing(".compact.json", with: "") }.sorted()
    }()

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name + ".json"), encoding: .utf8)
    }

    /// Returns `alert`, except for payloads that show nothing. These are an empty `aps` of 2011, when push types did
    /// not exist, and a decrypted content.
    private static func pushType(_ name: String) -> String {
        name == "guide-2011-5" || name == "encrypted-content" ? "voip" : "alert"
    }

    @Test("There are payloads from all five documents")
    func complete() {
        let kinds = ["guide-2011-": 5, "guide-today-": 3, "tutorial-": 9, "encrypted": 2]
        for (kind, count) in kinds { #expect(Self.names.count { $0.hasPrefix(kind) } >= count, "\(kind)") }
    }

    @Test("Published payloads are sent without white space, byte by byte, and accepted", arguments: names)
    func accepted(name: String) async throws {
        let stage = try Stage()
        let payload = try Self.text(name).replacing("\"", with: "\"\"")
        var campaign = try stage.campaign(rows: "token,payload\n\(token(1)),\"\(payload)\"\n")
        campaign.headers.pushType = .init(Self.pushType(name))
        if name == "tutorial-collapse" { campaign.headers.collapseID = "hunt-7" }
        let row = try #require(try CampaignPreview(campaign).next())
        #expect(String(decoding: row.payload, as: UTF8.self) == (try Self.text("\(name).compact")))
        let summary = try await CampaignRun(campaign).send()
        #expect(summary.accepted == 1, "\(row.invalid ?? "\(summary.reasons)")")
    }

    @Test(
        "Known mistakes in published payloads are reported by name, and the payload is not sent",
        arguments: [
            ("guide-2011-2-broken-line", "line 3, column 65: a line break inside a string"),
            ("guide-2011-4-as-printed", "trailing comma"), ("guide-today-1-as-printed", "typographic quote"),
            ("guide-today-1-straight-quotes", "missing comma"), ("guide-today-1-with-comma", "trailing comma"),
            ("guide-today-2-as-printed", "typographic quote"), ("guide-today-2-straight-quotes", "missing comma"),
        ])
    func mistyped(name: String, message: String) async throws {
        let stage = try Stage()
        let payload = try Self.text(name).replacing("\"", with: "\"\"")
        let campaign = try stage.campaign(rows: "token,payload\n\(token(1)),\"\(payload)\"\n")
        let report = try await CampaignCheck(campaign).run()
        let found = try #require(report.groups.first?.examples.first)
        #expect(found.rule == "json-syntax" && found.message.contains(message), "\(found.text)")
        #expect(stage.simulator.stop().requests == 0)
    }
}
