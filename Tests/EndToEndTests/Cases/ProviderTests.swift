import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of several teams in one campaign, and of keys that change during a run.
    @Suite struct Providers {
        /// The files of a campaign with two teams and three topics, in a sender's directory.
        struct Teams {
            static let topics = ["com.one.app", "com.one.game", "com.two.app"]
            let sender: Sender

            init() throws {
                sender = try Sender()
                for name in ["one", "next", "two"] {
                    let key = sender.scratch.path("\(name).p8")
                    try prepare(
                        "openssl", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key],
                        in: sender.scratch)
                    try prepare(
                        "openssl", ["pkey", "-in", key, "-pubout", "-out", sender.scratch.path("\(name).pem")],
                        in: sender.scratch)
                }
                try writeCampaign(keyFile: "one.p8", keyID: "KEYONE0001")
            }

            var campaign: String { sender.scratch.path("campaign.yaml") }

            /// Writes the campaign file. The arguments determine the key of team one.
            func writeCampaign(keyFile: String, keyID: String) throws {
                try sender.scratch.write(
                    """
                    ca_file: ca.pem
                    providers:
                      - topics: [com.one.app, com.one.game]
                        key_file: \(keyFile)
                        key_id: \(keyID)
                        team_id: TEAMONE001
                      - { topics: [com.two.app], key_file: two.p8, key_id: KEYTWO0002, team_id: TEAMTWO002 }

                    """, to: "campaign.yaml")
            }

            /// Returns the keys that the simulator must know.
            func providerKeys(_ names: [String] = ["one", "next", "two"]) -> [String] {
                let known = [
                    "one": "KEYONE0001:TEAMONE001", "next": "KEYNEXT001:TEAMONE001", "two": "KEYTWO0002:TEAMTWO002",
                ]
                return names.flatMap { ["--provider-key", sender.scratch.path("\($0).pem") + ":" + known[$0]!] }
            }

            func rows(_ numbers: Range<Int>) -> String {
                numbers.map { number in
                    let hex = String(number, radix: 16)
                    let token = String(repeating: "0", count: 64 - hex.count) + hex
                    return "\(token),\(Self.topics[number % 3]),\"{\"\"aps\"\":{\"\"alert\"\":\"\"Hi\"\"}}\"\n"
                }.joined()
            }

            func start(_ port: UInt16, _ directory: String, _ more: [String]) throws -> Child {
                try Child(
                    Tools.command,
                    [
                        "send", campaign, "--input", "-", "--to", "localhost:\(port)", "--run-dir", directory,
                        "--verbose", "--spool", "never",
                    ]
                        + more, name: "send", in: sender.scratch, input: .pipe)
            }
        }

        /// Waits until the process has written all of these texts, or has ended.
        private static func says(_ process: Child, _ texts: String...) -> Bool {
            eventually(seconds: 60) {
                let said = process.errors
                return process.isOver || texts.allSatisfy { said.contains($0) }
            } && !process.isOver
        }

        @Test(arguments: Tools.loops)
        func `two teams, three topics, tokens renewed, a key changed: all accepted, one team and token a connection`(
            loop: String
        ) throws {
            let teams = try Teams()
            let simulator = try TeamsSimulator(
                teams.sender,
                teams.providerKeys() + ["--token-lifetime", "5", "--topics", Teams.topics.joined(separator: ",")])
            let directory = teams.sender.newRunDirectory()
            let process = try teams.start(
                simulator.port, directory, ["--token-mint-after", "1", "--token-retire-after", "3", "--loop", loop])
            // There is more than one chunk each, because a partial chunk waits for more input.
            process.write("token,topic,payload\n" + teams.rows(0..<5000))
            let minted = "new provider token for localhost:\(simulator.port): team"
            try #require(
                eventually(seconds: 60) {
                    let said = process.errors
                    return process.isOver
                        || ["TEAMONE001", "TEAMTWO002"].allSatisfy {
                            said.components(separatedBy: "\(minted) \($0)").count > 3
                        }
                } && !process.isOver, "\(process.errors)")
            process.write(teams.rows(5000..<10_000))

            try teams.writeCampaign(keyFile: "next.p8", keyID: "KEYNEXT001")
            try #require(
                Self.says(
                    process, "apns-batch: reloaded: next.p8, new connections use it\n",
                    "\(minted) TEAMONE001, key KEYNEXT001"), "\(process.errors)")
            process.write(teams.rows(10_000..<15_000))
            process.closeInput()
            #expect(process.wait(seconds: 60) == .exited(0), "\(process.errors)")

            let results = try RunResults(directory)
            results.expectComplete(rows: 15_000)
            #expect(results.count("accepted") == 15_000)
            let said = try simulator.stop()
            #expect(said.contains("answered 200: 15000"), "\(said)")
            #expect(said.contains("team TEAMONE001: 10000") && said.contains("team TEAMTWO002: 5000"), "\(said)")
            #expect(said.contains("received_again=0"), "\(said)")
            #expect(said.contains("with_two_teams=0 tokens_too_early=0 tokens_expired=0"), "\(said)")
        }

        @Test func `a key file that is wrong changes nothing, SIGHUP reads it again, and the run completes`() throws {
            let teams = try Teams()
            let simulator = try TeamsSimulator(teams.sender, teams.providerKeys())
            let directory = teams.sender.newRunDirectory()
            let process = try teams.start(simulator.port, directory, [])
            process.write("token,topic,payload\n" + teams.rows(0..<5000))
            try #require(Self.says(process, "for team TEAMONE001", "for team TEAMTWO002"), "\(process.errors)")

            process.send(signal: SIGHUP)
            try #require(
                Self.says(process, "SIGHUP: neither keys and certificates nor settings have changed"),
                "\(process.errors)")
            let good = try Data(contentsOf: teams.sender.scratch.file("two.p8"))
            try teams.sender.scratch.write("-----BEGIN", to: "two.p8")
            try #require(
                Self.says(
                    process, "apns-batch: not reloaded: providers[1]: ", "two.p8: signing key: ",
                    "connections keep their credentials"),
                "\(process.errors)")
            try good.write(to: teams.sender.scratch.file("two.p8"))
            try teams.writeCampaign(keyFile: "next.p8", keyID: "KEYNEXT001")
            process.send(signal: SIGHUP)
            try #require(Self.says(process, "reloaded: next.p8, new connections use it"), "\(process.errors)")
            process.write(teams.rows(5000..<10_000))
            process.closeInput()
            #expect(process.wait(seconds: 60) == .exited(0), "\(process.errors)")
            let results = try RunResults(directory)
            results.expectComplete(rows: 10_000)
            #expect(results.count("accepted") == 10_000)
        }

        @Test func `a key file that hangs when it is read again does not keep SIGTERM from ending the run`() throws {
            let teams = try Teams()
            let simulator = try TeamsSimulator(teams.sender, teams.providerKeys())
            let process = try teams.start(simulator.port, teams.sender.newRunDirectory(), [])
            process.write("token,topic,payload\n" + teams.rows(0..<5000))
            try #require(Self.says(process, "for team TEAMONE001", "for team TEAMTWO002"), "\(process.errors)")

            let key = teams.sender.scratch.path("two.p8")
            try #require(unlink(key) == 0 && mkfifo(key, 0o600) == 0)
            for _ in 0..<3 { process.send(signal: SIGHUP) }
            process.send(signal: SIGTERM)
            #expect(process.wait(seconds: 60) == .exited(75), "\(process.errors)")
        }

        /// Makes a self-signed certificate in a file that also contains its key.
        private static func makeCertificate(_ name: String, in scratch: Scratch) throws -> String {
            let (key, certificate) = (scratch.path("\(name)-key.pem"), scratch.path("\(name)-cert.pem"))
            try prepare(
                "openssl",
                [
                    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                    "-subj", "/CN=\(name)", "-keyout", key, "-out", certificate,
                ], in: scratch)
            return try String(contentsOfFile: certificate, encoding: .utf8)
                + String(contentsOfFile: key, encoding: .utf8)
        }

        @Test(arguments: Tools.loops)
        func `a client certificate that is replaced: new connections have the new one, no row is lost`(
            loop: String
        ) throws {
            let teams = try Teams()
            let scratch = teams.sender.scratch
            let certificates = try ["first", "second"].map { try Self.makeCertificate($0, in: scratch) }
            let authorities = try scratch.write(certificates.joined(), to: "clients.pem")
            let (server, recording) = try Peer.python(teams.sender, ["--client-ca", authorities])
            try scratch.write(certificates[0], to: "push.pem")
            try scratch.write("ca_file: ca.pem\ncertificate_file: push.pem\n", to: "campaign.yaml")
            let directory = teams.sender.newRunDirectory()
            let process = try teams.start(server.port, directory, ["--lanes", "1", "--loop", loop])
            process.write("token,topic,payload\n" + teams.rows(0..<5000))
            let begun = eventually(seconds: 30) { recording.size > 100_000 }
            try #require(begun, "\(process.errors)")

            try scratch.write(certificates[1], to: "push.pem")
            try #require(
                Self.says(process, "apns-batch: reloaded: push.pem, new connections use it\n"), "\(process.errors)")
            let renewed = eventually(seconds: 30) { recording.certificates.contains("second") }
            try #require(renewed, "\(process.errors)")
            process.write(teams.rows(5000..<10_000))
            process.closeInput()
            #expect(process.wait(seconds: 60) == .exited(0), "\(process.errors)")
            server.stop()
            let results = try RunResults(directory)
            results.expectComplete(rows: 10_000)
            #expect(results.count("accepted") == 10_000)
            #expect(recording.requests.count == 10_000)
            #expect(recording.requests.allSatisfy { $0["authorization"] == nil })
            #expect(recording.certificates.first == "first" && recording.certificates.last == "second")
        }

        @Test(arguments: Tools.loops)
        func `a team that gets no answer does not hold up the other`(loop: String) throws {
            let teams = try Teams()
            // 100 rows of team two are in flight and 900 wait until 2,000 rows of team one have been answered.
            let (server, recording) = try Peer.python(teams.sender, ["--hold", "com.two.app:2000"])
            let directory = teams.sender.newRunDirectory()
            let process = try teams.start(
                server.port, directory, ["--lanes", "1", "--connections", "1", "--loop", loop])
            process.write("token,topic,payload\n" + teams.rows(0..<3000))
            process.closeInput()
            #expect(process.wait(seconds: 60) == .exited(0), "\(process.errors)")
            server.stop()
            let results = try RunResults(directory)
            results.expectComplete(rows: 3000)
            #expect(results.lines.allSatisfy { $0.outcome == "accepted" && $0.attempts == 1 })
            let teamsSeen = Dictionary(grouping: recording.requests, by: \.connection)
                .mapValues { Set($0.compactMap { $0["authorization"] }).count }
            #expect(teamsSeen.values.allSatisfy { $0 == 1 }, "one provider token a connection")
        }

        @Test func `a fatal answer to one team ends the campaign with 69 and names the team`() throws {
            let teams = try Teams()
            let simulator = try TeamsSimulator(teams.sender, teams.providerKeys(["one"]))
            let directory = teams.sender.newRunDirectory()
            let process = try teams.start(simulator.port, directory, [])
            process.write("token,topic,payload\n" + teams.rows(0..<5000))
            #expect(process.wait(seconds: 60) == .exited(69), "\(process.errors)")
            #expect(
                process.errors.contains(
                    "apns-batch: localhost:\(simulator.port) answered 403 InvalidProviderToken for team TEAMTWO002 with key "
                        + "KEYTWO0002: check that key id and team id belong to the key file, "),
                "\(process.errors)")
        }

        static let wrong: [(yaml: String, says: String)] = [
            (
                "providers:\n  - { topics: [com.a], keyfile: a.p8 }\n",
                "campaign.yaml:2:24: providers[0]: unknown key \"keyfile\"; did you mean key_file?"
            ),
            (
                "providers:\n  - { topics: [com.a] }\n  - { topics: [com.b], key_file: a.p8 }\n",
                "providers[0]: no credentials: give key_file with key_id and team_id, provider_token_file or certificate_file"
            ),
        ]

        @Test(arguments: wrong)
        func `a list of providers that is wrong: exit code 64 and its place`(yaml: String, says: String) throws {
            let scratch = try Scratch()
            let campaign = try scratch.write(yaml, to: "campaign.yaml")
            let rows = try scratch.write("token,topic,payload\n", to: "rows.csv")
            let finished = try Child.run(
                Tools.command,
                ["send", campaign, "--input", rows, "--to", "localhost:1", "--run-dir", scratch.path("run")],
                name: "send", in: scratch, seconds: 30)
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains(says), "\(finished)")
        }

        @Test func `a key by flag beside providers: exit code 64`() throws {
            let teams = try Teams()
            let finished = try teams.sender.command([
                "send", teams.campaign, "--input", "-", "--to", "localhost:1", "--key-file", "one.p8",
            ])
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains("--key-file: cannot be given together with providers"), "\(finished)")
        }
    }
}

/// A simulator of several teams in a separate process.
private final class TeamsSimulator {
    private let process: Child
    let port: UInt16

    init(_ sender: Sender, _ more: [String]) throws {
        process = try Child(
            Tools.command,
            [
                "simulate", "--port", "0", "--cert", sender.credentials.certificate, "--key", sender.credentials.key,
            ] + more, name: "simulate", in: sender.scratch)
        port = try Peer.portPrinted(by: process)
    }

    deinit { process.stop() }

    /// Ends the simulator, and returns its output.
    func stop() throws -> String {
        let ending = process.stop()
        try #require(ending == .exited(0), "\(ending): \(process.errors)")
        return process.output
    }
}
