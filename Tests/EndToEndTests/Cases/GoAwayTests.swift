import Foundation
import Testing

extension EndToEnd {
    /// Tests of the reasons in the GOAWAY frames of APNs.
    @Suite struct GoAways {
        static let said: [(debug: [String], shown: [String])] = [
            ([""], ["no reason given"]),
            ([#"{"reason":"Shutdown"}"#], ["Shutdown"]),
            (
                ["Maximum active streams violated for this endpoint."],
                ["Maximum active streams violated for this endpoint."]
            ),
            (["", #"{"reason":"IdleTimeout"}"#], ["no reason given", "IdleTimeout"]),
            ([#"{"reason":"NeverHeardOf"}"#, #"{"reason":"NeverHeardOf"}"#], ["NeverHeardOf", "NeverHeardOf"]),
        ]

        @Test(arguments: said)
        func `debug data is shown each time it comes, and every row is accepted all the same`(
            debug: [String], shown: [String]
        ) throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender, debug.flatMap { ["--goaway", $0] })
            let input = try sender.makeRows(2000, "--plain")
            let (finished, results) = try sender.send(
                input, to: server.port,
                ["--template", Tools.fixture("campaign/plain.json"), "--lanes", "1", "--verbose"])
            server.stop()
            results.expectComplete(rows: 2000)
            #expect(results.count("accepted") == 2000)
            #expect(Set(recording.requests.map(\.path)).count == 2000 && recording.requests.count == 2000)
            #expect(recording.violations == [])
            let lines = finished.errors.split(separator: "\n").filter { $0.contains("GOAWAY from") }
            #expect(lines.count == shown.count, "\(finished)")
            for (line, text) in zip(lines, shown) { #expect(line.hasSuffix(": \(text)"), "\(finished)") }
        }

        @Test func `a reason that is fatal ends the campaign with 69, whatever the code, and rows stay unsent`() throws
        {
            let sender = try Sender()
            let (server, recording) = try Peer.python(
                sender, ["--goaway-zero", "--goaway", "", "--goaway", #"{"reason":"BadCertificateEnvironment"}"#])
            let input = try sender.makeRows(2000, "--plain")
            let (finished, results) = try sender.send(
                input, to: server.port, ["--template", Tools.fixture("campaign/plain.json"), "--lanes", "1"],
                expecting: 69)
            server.stop()
            #expect(
                finished.errors.contains(
                    "closed the connection with BadCertificateEnvironment for team \(TestCredentials.teamID) with key "
                        + "\(TestCredentials.keyID): use a key of this environment, or the other environment: "
                        + "keys may be restricted to one\n"),
                "\(finished)")
            #expect(results.lines.count < 2000)
            results.expectSummaryAgrees()
            #expect(results.lines.count == recording.requests.count)
        }
    }
}
