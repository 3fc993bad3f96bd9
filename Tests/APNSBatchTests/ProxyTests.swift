import APNSBatchSimulator
import APNSBatchTestSupport
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Campaign through a proxy") struct ProxyTests {
    private static func campaign(_ stage: Stage, port: UInt16, password: String? = nil) throws -> StagedCampaign {
        let payload = #""{""aps"":{""alert"":""Hi""}}""#
        let rows = "token,payload\n" + (0..<500).map { "\(token($0)),\(payload)\n" }.joined()
        var campaign = try stage.campaign(rows: rows)
        campaign.lanes = 1
        campaign.connectPatience = .seconds(1)
        campaign.proxy = .init(
            host: "127.0.0.1", port: port, user: password == nil ? nil : "nightly", password: password ?? "")
        return campaign
    }

    @Test("Every row is accepted, with a proxy password and without", arguments: [nil, "s3cret: ü"])
    func sends(password: String?) async throws {
        let stage = try Stage()
        let proxy = try ProxyProcess(["tunnel"] + (password.map { ["nightly:\($0)"] } ?? []))
        defer { withExtendedLifetime(proxy) {} }
        let log = LogKeeper()
        let campaign = try Self.campaign(stage, port: proxy.port, password: password)
        let summary = try await CampaignRun(campaign, logger: log.logger).send()
        #expect(summary.ending == .complete && summary.accepted == 500)
        #expect(!log.text.contains("s3cret") && !log.text.contains("bmlnaHRseT"))
    }

    @Test("A wrong proxy password ends the run at once and is not shown")
    func wrongPassword() async throws {
        let stage = try Stage()
        let proxy = try ProxyProcess(["tunnel", "nightly:right"])
        defer { withExtendedLifetime(proxy) {} }
        var campaign = try Self.campaign(stage, port: proxy.port, password: "wrong")
        campaign.connectPatience = .seconds(3600)
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        #expect(summary.ending == .failed && summary.accepted == 0)
        let text = run.failure?.description ?? ""
        #expect(text.contains("the proxy refused the connection: status 407"), "\(text)")
        #expect(!text.contains("wrong"))
    }

    @Test(
        "A proxy that fails to connect is named as the cause",
        arguments: [
            ("refuse", "the proxy refused the connection: status 502"), ("babble", "the proxy's answer is too long"),
            ("noise", "the proxy's answer is no HTTP/1.1"),
            ("close", "the proxy closed the connection before it answered"),
            ("eager", "the proxy said more than its answer"),
        ])
    func causes(mode: String, cause: String) async throws {
        let stage = try Stage()
        let proxy = try ProxyProcess([mode])
        defer { withExtendedLifetime(proxy) {} }
        let run = try CampaignRun(try Self.campaign(stage, port: proxy.port))
        let summary = try await run.send()
        #expect(summary.ending == .failed)
        #expect(run.failure?.description.contains(cause) == true, "\(run.failure?.description ?? "")")
    }

    @Test("An unreachable proxy is named, and not the server behind it")
    func refused() async throws {
        let stage = try Stage()
        let proxy = ReservedPort()
        var campaign = try Self.campaign(stage, port: proxy.number)
        campaign.credentials = .none
        let run = try CampaignRun(campaign)
        _ = try await run.send()
        #expect(
            run.failure?.description
                == "no connection for 1 seconds: cannot connect to the proxy 127.0.0.1:\(proxy.number) (Connection refused)"
        )
    }

    @Test(
        "The CONNECT request has the expected form",
        arguments: [("u", "", "dTo="), ("u", "p", "dTpw"), ("us", "p", "dXM6cA==")])
    func request(user: String, password: String, encoded: String) throws {
        let proxy = Campaign.Proxy(host: "p", port: 1, user: user, password: password)
        #expect(
            String(decoding: try proxy.request(to: "a:443"), as: UTF8.self).hasSuffix(": Basic \(encoded)\r\n\r\n"))
    }

    @Test("User names and passwords that would break the request are refused")
    func badCredentials() throws {
        for (user, password) in [("a:b", "c"), ("a", "b\r\nx: y"), ("a\n", "")] {
            let proxy = Campaign.Proxy(host: "p", port: 1, user: user, password: password)
            #expect(throws: CampaignError.self) { try proxy.request(to: "a:443") }
            #expect("\(proxy)" == "p:1")
        }
        let fine = Campaign.Proxy(host: "p", port: 1, user: "u", password: "p")
        #expect(
            String(decoding: try fine.request(to: "[::1]:443"), as: UTF8.self)
                == "CONNECT [::1]:443 HTTP/1.1\r\nhost: [::1]:443\r\nproxy-authorization: Basic dTpw\r\n\r\n")
    }
}

/// A process of Tests/Peers/connect_proxy.py.
final class ProxyProcess {
    private let process = Process()
    private let input = Pipe()
    let port: UInt16

    init(_ arguments: [String]) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Peers/connect_proxy.py").path
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", script] + arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        port = try #require(UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    /// Kills the process. Closing its input is not reliable, because a process started meanwhile may have inherited the
    /// other end. SIGTERM may be blocked, because the process inherits the signal mask of the test's thread.
    deinit {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
