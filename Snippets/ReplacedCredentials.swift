// Replaces the signing key of a sender while it runs.
import APNSBatch
import APNSSimulator

let notification = PushNotification(
    deviceToken: String(repeating: "a1", count: 32), topic: "com.example.app",
    payload: #"{"aps":{"alert":"Hello"}}"#)

// The key of another simulator is in order, but this one does not know it: as a key that was revoked.
let revoked = try await withSimulator { $0.credentials }

try await withSimulator { simulator in
    var configuration = Sender.Configuration(destination: simulator.destination, credentials: revoked)
    configuration.authorities = simulator.authorities
    let sender = try Sender(configuration)
    async let running: Void = sender.run()

    let before = try await sender.send(notification)
    precondition(before.status == 403, "\(before)")

    // snippet.replace
    let file = simulator.signingKey  // In a server: the new content of the key's file.
    let key = try Campaign.Credentials.signingKey(
        file: file, passphrase: nil, keyID: simulator.keyID, teamID: simulator.teamID)
    let changed = try sender.replaceCredentials([.init(credentials: key)])
    print(changed.isEmpty ? "the key is the same" : "requests are sent with the new key from now on")
    // snippet.end
    let after = try await sender.send(notification)
    precondition(changed == [0] && after.outcome == .accepted, "\(after)")

    // Credentials that are wrong are refused, and change nothing.
    do throws(CampaignError) {
        try sender.replaceCredentials([
            .init(credentials: .providerToken(keyPEM: [1, 2, 3], keyID: "ABC123DEFG", teamID: "DEF123GHIJ"))
        ])
        preconditionFailure("bytes that are no key were taken")
    } catch {
        print(error)
        precondition(error.code == .configuration)
    }
    let last = try await sender.send(notification)
    precondition(last.outcome == .accepted, "\(last)")

    sender.shutDown()
    try await running
}
