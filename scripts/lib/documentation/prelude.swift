// The names that code blocks of documents and docstrings use without a declaration. scripts/docs compiles this as a module that
// every block imports.
import APNSBatch
import APNSSimulator
import CoreMetrics

/// A user of a program.
public struct User: CampaignRow, Sendable {
    public var token: String
    public var name: String

    public static let columns = ["token", "name"]

    public func encode(into row: inout RowEncoder) {
        row.append(token)
        row.append(name)
    }
}

/// The device tokens that a program has.
public struct TokenStore: Sendable {
    public func delete(_ token: String) async {}
}

public let users = AsyncStream<User> { $0.finish() }
public let store = TokenStore()
public let pem: [UInt8] = []
public let template: [UInt8] = []
public let token = ""
public let credentials = Campaign.Credentials.none
public let configuration = Sender.Configuration(destination: .production, credentials: .none)
public let factory: any MetricsFactory = NOOPMetricsHandler.instance
nonisolated(unsafe) public var campaign = Campaign(destination: .production, topic: nil, credentials: .none)

public var sender: Sender { fatalError("no block runs") }

/// The simulator of a test. No block runs.
public var simulator: Simulator { fatalError("no block runs") }
public var request: Simulator.Request { simulator.requests[0] }
