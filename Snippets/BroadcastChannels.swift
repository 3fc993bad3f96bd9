// Makes a broadcast channel, sends to it, and deletes it.
import APNSBatch
import APNSSimulator

try await withSimulator { simulator in
    var configuration = Sender.Configuration(
        destination: simulator.destination, credentials: simulator.credentials)
    configuration.authorities = simulator.authorities
    let sender = try Sender(configuration)
    async let running: Void = sender.run()

    // snippet.broadcast
    let channels = try sender.channels(of: "com.example.app")
    let channel = try await channels.create(storage: .mostRecent)
    let score = #"{"aps":{"event":"update","timestamp":1767225600,"content-state":{"home":1,"guest":0}}}"#
    let result = try await sender.broadcast(
        BroadcastNotification(
            channelID: channel, bundleID: "com.example.app", payload: score, expiration: .after(.seconds(3600))))
    precondition(result.outcome == .accepted, "\(result)")
    try await channels.delete(channel)
    // snippet.end

    sender.shutDown()
    try await running
}
