import APNSBatchSimulator
import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Channel management against the simulator")
struct ChannelManagerTests {
    private func manager(
        _ stage: Stage, bundleID: String = "com.example.app", port: UInt16? = nil,
        credentials: Campaign.Credentials? = nil, authorities: [UInt8]? = nil
    ) throws -> ChannelManager {
        try ChannelManager(
            bundleID: bundleID, at: .host("localhost", port: port ?? stage.simulator.managementPort ?? stage.port),
            credentials: credentials ?? stage.credentials, authorities: authorities ?? stage.occasion.authorityPEM,
            systemTrust: false)
    }

    private func expect<T>(
        _ kind: ChannelError.Code, _ message: String, remedy: String? = nil, _ body: () async throws -> T
    ) async {
        do {
            _ = try await body()
            Issue.record("no error")
        } catch let error as ChannelError {
            #expect(error.code == kind && error.remedy == remedy)
            #expect(error.description.hasSuffix(message), "\(error)")
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("A channel is created, read, listed and deleted", arguments: ChannelManager.Storage.allCases)
    func life(storage: ChannelManager.Storage) async throws {
        let stage = try Stage { $0.managementPort = 0 }
        let manager = try manager(stage)
        #expect(try await manager.list() == [])
        let first = try await manager.create(storage: storage)
        let second = try await manager.create(storage: .none)
        #expect(Data(base64Encoded: first)?.count == 16 && first != second)
        #expect(try await manager.read(first) == ChannelManager.Channel(id: first, storage: storage))
        #expect(try await manager.list() == [first, second])
        try await manager.delete(first)
        #expect(try await manager.list() == [second])
        #expect(stage.simulator.stop().channels == 1)
    }

    @Test("A refusal has status, reason, explanation and remedy")
    func refusals() async throws {
        let stage = try Stage {
            $0.managementPort = 0
            $0.channelsMaximum = 1
            $0.broadcastApps = ["com.example.app"]
            $0.topics = ["com.example.app", "com.example.mute"]
        }
        let known = try manager(stage)
        await expect(
            .refused(status: 400, reason: "ChannelNotRegistered"),
            "answered 400 ChannelNotRegistered: the channel does not exist",
            remedy: "list the app's channels; the channel may belong to the other environment, or was deleted"
        ) { try await known.read("AAAA") }
        _ = try await known.create(storage: .none)
        await expect(
            .refused(status: 400, reason: "CannotCreateChannelConfig"),
            "answered 400 CannotCreateChannelConfig: the app has its 10,000 channels already",
            remedy: "delete channels that are not used any more"
        ) { try await known.create(storage: .none) }
        let mute = try manager(stage, bundleID: "com.example.mute")
        await expect(
            .refused(status: 400, reason: "FeatureNotEnabled"),
            "answered 400 FeatureNotEnabled: broadcast is not enabled for the app",
            remedy: "enable broadcast for the app in the developer account, under its push notifications"
        ) { try await mute.list() }
        let wrongPort = try manager(stage, port: stage.port)
        await expect(
            .refused(status: 404, reason: "BadPath"),
            "localhost:\(stage.port) answered 404 BadPath: APNs has no such path; this is a bug in this program",
            remedy: "check host and port: channel management has separate hosts and ports"
        ) { try await wrongPort.list() }
        let nobody = try manager(stage, credentials: Campaign.Credentials.none)
        await expect(
            .refused(status: 403, reason: "MissingProviderToken"),
            "answered 403 MissingProviderToken: neither provider token nor client certificate",
            remedy: "give a signing key with its key id and team id, or a client certificate"
        ) { try await nobody.list() }
    }

    @Test("An invalid configuration is reported before anything is sent")
    func configuration() async throws {
        let stage = try Stage()
        let manager = try manager(stage)
        await expect(.configuration, "channel: expected base64, found \"no id\"") { try await manager.read("no id") }
        await expect(
            .configuration, "bundle id: expected letters, digits, '.', '-' or '_', found \"/\" at byte 2"
        ) { try self.manager(stage, bundleID: "a/b") }
        await expect(.configuration, "the key id must have 1 to 64 letters and digits (Apple's have 10)") {
            try self.manager(
                stage,
                credentials: .providerToken(keyPEM: stage.occasion.signingKeyPEM, keyID: "", teamID: Occasion.teamID))
        }
        #expect(stage.simulator.stop().requests == 0)
    }

    @Test("An unreachable server is reported with its name and the cause")
    func unreachable() async throws {
        let stage = try Stage()
        let stranger = try Occasion.make(hosts: ["localhost"])
        let distrustful = try manager(stage, authorities: stranger.authorityPEM)
        do {
            _ = try await distrustful.list()
            Issue.record("no error")
        } catch {
            #expect(error.code == .unreachable && error.description.hasPrefix("localhost:\(stage.port): "))
            #expect(error.description.contains("certificate"), "\(error)")
        }
        let lonely = try manager(stage)
        stage.simulator.stop()
        await expect(.unreachable, "localhost:\(stage.port): Connection refused") {
            try await lonely.list()
        }
    }

    @Test("Production and sandbox have their own hosts and ports")
    func hosts() {
        #expect(Campaign.Destination.production.channelManagement == ("api-manage-broadcast.push.apple.com", 2196))
        #expect(Campaign.Destination.sandbox.channelManagement == ("api-manage-broadcast.sandbox.push.apple.com", 2195))
    }
}
