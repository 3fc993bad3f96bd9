import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

/// A server that sends what HTTP/2 forbids when a connection is up, before the first request, over real sockets and TLS.
@Suite("Violations before the first request")
struct ViolationTests {
    /// Those that need no stream of a request.
    static let kinds: [MalformedFault] = [
        .frameTooLarge, .dataOnIdle, .settingsLength, .settingsFrameSize, .settingsWindow, .pingLength, .windowOverflow,
        .windowZero, .continuationAlone, .goawayShort, .resetOnIdle, .http1, .noise,
    ]

    /// - Parameter connection: the only connection on which it happens; nil for all.
    private static func stage(_ kind: MalformedFault, connection: Int?) throws -> Stage {
        var when = FaultOccasion(after: 0)
        when.connection = connection
        return try Stage(script: SimulatorScript(faults: [SimulatorFault(.malformed(kind), when: when)]))
    }

    private static func campaign(_ stage: Stage) throws -> StagedCampaign {
        let payload = #""{""aps"":{""alert"":""Hi""}}""#
        let rows = (0..<20).map { "\(token($0)),\(payload)\n" }
        var campaign = try stage.campaign(rows: "token,payload\n" + rows.joined())
        campaign.lanes = 1
        campaign.connections = 1
        return campaign
    }

    @Test("A campaign accepts every row over the next connection", arguments: kinds)
    func campaign(kind: MalformedFault) async throws {
        let stage = try Self.stage(kind, connection: 1)
        let summary = try await (try CampaignRun(try Self.campaign(stage))).send()
        #expect(summary.ending == .complete && summary.accepted == 20, "\(summary)")
    }

    @Test("A campaign ends as unreachable where every connection is like that", arguments: kinds)
    func hopelessCampaign(kind: MalformedFault) async throws {
        let stage = try Self.stage(kind, connection: nil)
        var campaign = try Self.campaign(stage)
        (campaign.connectPatience, campaign.answerPatience) = (.seconds(1), .seconds(1))
        campaign.unavailablePatience = .seconds(1)
        let run = try CampaignRun(campaign)
        let summary = try await run.send()
        let isComplete = summary.ending == .complete && summary.accepted == 20
        #expect(isComplete || run.failure?.code == .unreachable, "\(summary), \(run.failure as Any)")
    }

    @Test("A sender sends over the next connection", arguments: kinds)
    func sender(kind: MalformedFault) async throws {
        let stage = try Self.stage(kind, connection: 1)
        try await stage.withSender({ ($0.lanes, $0.connections) = (1, 1) }) { sender in
            for number in 0..<3 {
                let result = try await sender.send(push(number))
                #expect(result.outcome == .accepted)
            }
        }
    }

    @Test("The doctor reports it, or gets its answer before", arguments: kinds)
    func doctor(kind: MalformedFault) async throws {
        let stage = try Self.stage(kind, connection: nil)
        var doctor = Doctor()
        doctor.endpoints = [.init(.production, host: "localhost", port: stage.port)]
        doctor.authorities = stage.occasion.authorityPEM
        doctor.systemTrust = false
        #expect(await doctor.examine().count >= 2)
    }
}
