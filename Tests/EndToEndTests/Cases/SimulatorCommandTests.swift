import Foundation
import Testing

extension EndToEnd {
    /// Tests of the options of `simulate`. Where our sender is not involved, third-party clients are used.
    @Suite struct SimulatorCommand {
        /// Starts a simulator with the usual certificate.
        private static func start(_ sender: Sender, _ more: [String]) throws -> Child {
            let process = try Child(
                Tools.command,
                [
                    "simulate", "--port", "0", "--cert", sender.credentials.certificate, "--key",
                    sender.credentials.key, "--directory", sender.scratch.path("simulator"),
                ] + more, name: "simulate", in: sender.scratch)
            _ = try Peer.portPrinted(by: process)
            return process
        }

        /// Writes the public half of another key to a file, and returns its path.
        private static func otherKey(_ sender: Sender) throws -> String {
            let (key, path) = (sender.scratch.path("other.p8"), sender.scratch.path("other.pub.pem"))
            try prepare(
                "openssl", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key],
                in: sender.scratch)
            try prepare("openssl", ["pkey", "-in", key, "-pubout", "-out", path], in: sender.scratch)
            return path
        }

        @Test func `several keys, each with its team and topics: counted by team`() throws {
            let sender = try Sender()
            let own = sender.credentials.providerPublicKey + ":\(TestCredentials.keyID):\(TestCredentials.teamID)"
            let process = try Self.start(
                sender,
                [
                    "--provider-key", own + ":com.example.app,com.example.b", "--provider-key",
                    try Self.otherKey(sender) + ":OTHERKEY00:OTHERTEAM0", "--topics", "com.example.c",
                    "--token-lifetime", "3000", "--token-update-interval", "0", "--environment", "sandbox",
                ])
            let port = try Peer.portPrinted(by: process)
            let input = try sender.makeRows(20)
            let template = ["--template", Sender.template]
            let (_, results) = try sender.send(input, to: port, template)
            #expect(results.count("accepted") == 20)
            let (_, refused) = try sender.send(input, to: port, template + ["--topic", "com.example.c"], expecting: 69)
            #expect(refused.count("accepted") == 0)
            #expect(process.stop() == .exited(0), "\(process.errors)")
            let lines = process.output.split(separator: "\n").map(String.init)
            #expect(lines.contains("answered 200: 20"))
            #expect(lines.contains { $0.hasPrefix("answered 400 TopicDisallowed: ") })
            let team = lines.first { $0.hasPrefix("team \(TestCredentials.teamID): ") }
            #expect(team.flatMap { Int($0.split(separator: " ")[2]) } ?? 0 > 20)
            #expect(lines.contains("team OTHERTEAM0: 0"))
            #expect(lines.contains { $0.hasPrefix("requests=") && $0.contains(" accepted=20 tokens=20 ") })
            #expect(
                lines.last?.hasSuffix(" with_certificate=0 with_two_teams=0 tokens_too_early=0 tokens_expired=0")
                    == true)
        }

        @Test func `a client certificate of an authority, with curl: pushes and channels, no token`() throws {
            let sender = try Sender()
            let (certificate, key) = (sender.scratch.path("client.pem"), sender.scratch.path("client.key.pem"))
            try prepare(
                "openssl",
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate,
                    "-subj", "/UID=com.example.app/CN=Apple Push Services: com.example.app",
                ], in: sender.scratch)
            let process = try Self.start(sender, ["--client-ca", certificate, "--manage-port", "0"])
            let port = try Peer.portPrinted(by: process)
            _ = eventually(seconds: 30) { process.output.contains("channels on ") }
            let line = try #require(process.output.split(separator: "\n").first { $0.hasPrefix("channels on ") })
            let managementPort = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
            func curl(_ port: UInt16, _ path: String, _ body: String, _ fields: [String]) throws -> String {
                let finished = try Child.run(
                    "curl",
                    [
                        "--silent", "--show-error", "--http2", "--cacert", sender.credentials.authority, "--cert",
                        certificate, "--key", key, "--write-out", "\n%{http_code}", "--data-binary", body,
                    ] + fields.flatMap { ["--header", $0] } + ["https://localhost:\(port)\(path)"], name: "curl",
                    in: sender.scratch, seconds: 30)
                return finished.output + finished.errors
            }
            let alert = #"{"aps":{"alert":"Hello"}}"#
            let fields = ["apns-topic: com.example.app", "apns-push-type: alert"]
            #expect(try curl(port, "/3/device/00ff", alert, fields) == "\n200")
            #expect(
                try curl(port, "/3/device/00ff", alert, ["apns-topic: com.example.b", "apns-push-type: alert"])
                    == "{\"reason\":\"TopicDisallowed\"}\n400")
            let channel = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
            #expect(try curl(managementPort, "/1/apps/com.example.app/channels", channel, []) == "\n201")
            #expect(
                try curl(managementPort, "/1/apps/com.example.b/channels", channel, [])
                    == "{\"reason\":\"TopicMismatch\"}\n403")
            #expect(try curl(port, "/1/apps/com.example.app/channels", channel, []) == "{\"reason\":\"BadPath\"}\n404")
            #expect(process.stop() == .exited(0), "\(process.errors)")
            #expect(process.output.contains("channels=1\n"))
            #expect(process.output.contains("connections=5 with_certificate=5 "))
        }

        /// Options, and the expected message about them.
        static let wrong: [(arguments: [String], says: String)] = [
            (["--environment", "test"], "Please provide one of 'production' and 'sandbox'"),
            (["--token-lifetime", "-1"], "tokenLifetime: expected 0 to 4294967296 seconds, found -1"),
        ]

        @Test(arguments: wrong)
        func `wrong usage: exit code 64`(arguments: [String], says: String) throws {
            let scratch = try Scratch()
            // The value of an option may begin with a dash.
            let pairs = stride(from: 0, to: arguments.count, by: 2).map { "\(arguments[$0])=\(arguments[$0 + 1])" }
            let finished = try Child.run(
                Tools.command, ["simulate", "--port", "0", "--directory", scratch.path("made")] + pairs,
                name: "simulate", in: scratch, seconds: 30)
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains(says), "\(finished)")
        }
    }
}
