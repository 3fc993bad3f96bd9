import APNSBatch
import APNSSimulator
import Foundation
import Logging

@testable import NightlyCampaign

/// A database and run directories in a folder of their own, which is removed with this object.
final class Night: Sendable {
    let database: PushDatabase
    let path: String
    private let folder: URL

    init(devices: Int) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "nightly-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "push.sqlite").path
        database = try PushDatabase(path)
        try await database.addSample(devices)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The run of a campaign, which begins or continues.
    func run(_ name: String = "night", to simulator: Simulator) async throws -> NightlyRun {
        var campaign = Campaign.nightly(
            name, to: .production, topic: "com.example.app", credentials: .none,
            runs: folder.appending(path: "runs").path)
        campaign.redirect(to: simulator)
        campaign.lanes = 1
        return try await NightlyRun.prepare(
            campaign, database, Logger(label: "night") { _ in SwiftLogNoOpLogHandler() })
    }
}
