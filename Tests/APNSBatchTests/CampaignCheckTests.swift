import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Check of a campaign") struct CampaignCheckTests {
    private static let template = Campaign.Template(
        json: Array(#"{ "aps": { "alert": "{{text?}}", "badge": "{{badge:number?}}" } }"#.utf8), name: "t.json")

    private func rows(_ fields: [String]) -> String {
        "token,text,badge\n" + fields.enumerated().map { "\(token($0)),\($1)\n" }.joined()
    }

    private func findings(_ path: String) throws -> [String] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    @Test("A check shows twenty examples of a finding, writes all of them, and counts rows once")
    func examples() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: rows((0..<3000).map { $0 % 3 == 0 ? "x,five" : "x,1" }))
        campaign.template = Self.template
        campaign.headers.expiration = .after(.seconds(60))
        let path = stage.directory.appending(path: "findings.csv").path
        let report = try await CampaignCheck(campaign, findingsPath: path).run()
        #expect(report.rows == 3000 && report.rowsWithErrors == 1000 && report.rowsWithWarnings == 0)
        #expect(report.isComplete && !report.isClean && !report.isBroken)
        let group = try #require(report.groups.first)
        #expect(report.groups.count == 1 && group.rule == "column-value-type" && group.count == 1000)
        let firstRows: [UInt64?] = (0..<20).map { UInt64($0 * 3 + 1) }
        #expect(group.examples.map(\.row) == firstRows)
        #expect(group.examples[1].text.hasSuffix(#"rows.csv:5:68: badge: expected a number, found "five""#))
        let lines = try findings(path)
        #expect(lines.count == 1001 && lines[0] == "severity,rule,row,file,line,column,message")
        let numbers = lines.dropFirst().map { $0.split(separator: ",")[2] }
        #expect(Set(numbers).count == 1000)
        #expect(stage.simulator.stop().connections == 0)
    }

    @Test("A check summarises payload sizes, oversized payloads and unused template parts")
    func sizes() async throws {
        let stage = try Stage()
        let long = String(repeating: "y", count: 5000)
        var campaign = try stage.campaign(rows: rows(["a,", "ab,", "abc,", "\(long),"]))
        campaign.template = Self.template
        let sizes = try await CampaignCheck(campaign).run().sizes
        let shortest = #"{"aps":{"alert":"a"}}"#.utf8.count
        #expect(sizes.payloads == 4 && sizes.percentile(0.5) == shortest + 1 && sizes.percentile(0.75) == shortest + 2)
        #expect(sizes.maximum == shortest + 4999 && sizes.maximumRow == 4 && sizes.percentile(1) == sizes.maximum)
        let blanks = Self.template.json.count { $0 == UInt8(ascii: " ") }
        #expect(sizes.bytesSaved == UInt64(3 * blanks))
    }

    @Test("A check reports exactly the rows that a run calls invalid")
    func agreesWithSend() async throws {
        let fields = [
            "x,1", "x,-1", ",", ",3", "\"say \"\"hi\"\"\",2", "x,1.5", "x", "x,1,2", "é,007", "x,1e2", "\u{7f},0",
        ]
        var random = SplitMix64(seed: 7)
        let stage = try Stage()
        let picked = (0..<2000).map { _ in fields[Int(random.next() % UInt64(fields.count))] }
        var campaign = try stage.campaign(rows: rows(picked))
        campaign.template = Self.template
        let path = stage.directory.appending(path: "findings.csv").path
        let report = try await CampaignCheck(campaign, findingsPath: path).run()
        campaign.circuitBreaker.shares = [Campaign.CircuitBreaker.invalidRows: .never]
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.rejected == 0 && summary.invalid == report.rowsWithErrors && report.rowsWithErrors > 200)
        let bad = Set(
            try findings(path).filter { $0.hasPrefix("error") }.compactMap { UInt64($0.split(separator: ",")[2]) })
        let invalid = try stage.results(run).filter { $0.value[2] == "invalid" }.map(\.key)
        #expect(bad == Set(invalid))
    }

    @Test("A check replaces earlier findings and no other file")
    func replaces() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(rows: rows(["x,1"]))
        campaign.template = Self.template
        guard case .file(let input) = campaign.input else { return }
        for path in [input, stage.directory.path + "/nowhere/findings.csv"] {
            let error = #expect(throws: CampaignError.self) { try CampaignCheck(campaign, findingsPath: path) }
            #expect(error?.description.hasSuffix(" with --findings") == true, "\(error?.description ?? "")")
        }
        #expect(try String(contentsOfFile: input, encoding: .utf8) == rows(["x,1"]))
        let path = stage.directory.appending(path: "findings.csv").path
        for _ in 0..<2 { _ = try await CampaignCheck(campaign, findingsPath: path).run() }
        #expect(try findings(path).count == 2)
    }

    @Test("A check shows no card number and no encrypted field")
    func secrets() async throws {
        let stage = try Stage()
        var campaign = try stage.campaign(
            rows: "token,badge,diagnosis,public_key\n\(token(1)),4111 1111 1111 1111,secret-word,\n")
        campaign.template = .init(json: Array(#"{"aps":{"badge":"{{badge:number}}"}}"#.utf8), name: "t.json")
        let card = try await CampaignCheck(campaign).run()
        #expect(
            card.groups.first?.examples.first?.message
                == "badge: expected a number, found what looks like a card number")
        campaign.template = .init(
            json: Array(#"{"aps":{"alert":"a"},"d":"{{diagnosis:number}}"}"#.utf8), name: "t.json")
        campaign.encryption = .init(keys: ["d"])
        campaign.input = .file(
            try stage.write(
                "token,diagnosis,public_key\n\(token(1)),secret-word,\"\(try recipientPEM())\"\n", to: "sealed.csv"))
        let sealed = try await CampaignCheck(campaign).run()
        let messages = sealed.groups.flatMap(\.examples).map(\.message)
        #expect(messages == ["diagnosis: expected a number, found something else"])
        campaign.circuitBreaker.shares = [Campaign.CircuitBreaker.invalidRows: .never]
        let run = try CampaignRun(campaign)
        #expect(try await run.send().invalid == 1)
        #expect(try stage.results(run)[1]?.joined(separator: ",").contains("secret-word") == false)
    }
}

/// Returns an RSA public key of 2,048 bits, made by openssl.
func recipientPEM() throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "openssl genrsa 2048 2>/dev/null | openssl rsa -pubout 2>/dev/null"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
}
