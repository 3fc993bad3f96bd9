import Foundation
import Testing

extension EndToEnd {
    /// Tests of senders without a signing key, which have a provider token that was made elsewhere.
    @Suite struct TokenFiles {
        private let sender: Sender
        private let token: String

        init() throws {
            sender = try Sender()
            token = sender.scratch.path("token.jwt")
        }

        private var keyFlags: [String] {
            [
                "--key-file", sender.credentials.providerKey, "--key-id", TestCredentials.keyID, "--team-id",
                TestCredentials.teamID,
            ]
        }

        /// Makes a token by the command, now.
        private func renew() throws {
            let made = try sender.command(["provider-token"] + keyFlags + ["--output", token])
            try #require(made.ending == .exited(0) && made.output.isEmpty, "\(made)")
        }

        /// Makes a token that is some seconds old.
        private func makeToken(age: Int) throws {
            let program = """
                import base64, json, sys, time
                from cryptography.hazmat.primitives import hashes, serialization
                from cryptography.hazmat.primitives.asymmetric import ec, utils
                def part(data): return base64.urlsafe_b64encode(data).rstrip(b"=")
                key = serialization.load_pem_private_key(open(sys.argv[1], "rb").read(), None)
                header, claims = {"alg": "ES256", "kid": sys.argv[2]}, {"iss": sys.argv[3], "iat": int(time.time()) - int(sys.argv[4])}
                signed = part(json.dumps(header).encode()) + b"." + part(json.dumps(claims).encode())
                r, s = utils.decode_dss_signature(key.sign(signed, ec.ECDSA(hashes.SHA256())))
                open(sys.argv[5], "wb").write(signed + b"." + part(r.to_bytes(32, "big") + s.to_bytes(32, "big")))
                """
            try prepare(
                Tools.python,
                [
                    "-c", program, sender.credentials.providerKey, TestCredentials.keyID, TestCredentials.teamID,
                    "\(age)",
                    token,
                ], in: sender.scratch)
            chmod(token, 0o600)
        }

        private func arguments(_ port: UInt16, _ more: [String] = []) throws -> [String] {
            [
                "send", "--input", try sender.makeRows(50), "--to", "localhost:\(port)", "--run-dir",
                sender.newRunDirectory(), "--topic", TestCredentials.topic, "--ca-file", sender.credentials.authority,
                "--template", Sender.template, "--provider-token-file", token,
            ] + more
        }

        @Test func `a token from the command is accepted, and is all that is printed`() throws {
            let simulator = try SimulatorProcess(sender)
            let printed = try sender.command(["provider-token"] + keyFlags)
            #expect(printed.ending == .exited(0) && printed.errors.isEmpty, "\(printed.ending) \(printed.errors)")
            let parts = printed.output.split(separator: ".")
            #expect(parts.count == 3 && parts[0].hasPrefix("eyJ") && parts[2].count == 87 && parts[2].hasSuffix("\n"))
            try renew()
            let mode = try FileManager.default.attributesOfItem(atPath: token)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let sent = try sender.command(try arguments(simulator.port))
            #expect(sent.ending == .exited(0), "\(sent)")
            let open = try sender.command(["provider-token", "--key-file", sender.credentials.providerKey])
            #expect(open.ending == .exited(64) && open.output.isEmpty, "\(open)")
        }

        @Test func `a run waits for a token that replaces one that is used up`() throws {
            let simulator = try SimulatorProcess(sender)
            // Connections are replaced when their token is 52 minutes old.
            try makeToken(age: 3300)
            let process = try Child(
                Tools.command, try arguments(simulator.port, ["--connect-patience", "3600"]), name: "send",
                in: sender.scratch)
            let waits = eventually(seconds: 60) { process.errors.contains("is used up") }
            #expect(waits && !process.isOver, "\(process.errors)")
            try renew()
            #expect(process.wait(seconds: 120) == .exited(0), "\(process.errors)")
            #expect(process.errors.contains("reloaded: token.jwt"), "\(process.errors)")
            #expect(try simulator.stop().values.allSatisfy { $0.received == 1 })
        }

        @Test func `without another token the run ends, and can be resumed with one`() throws {
            let simulator = try SimulatorProcess(sender)
            try makeToken(age: 3300)
            let flags = try arguments(simulator.port, ["--connect-patience", "1"])
            let failed = try sender.command(flags)
            #expect(failed.ending == .exited(69), "\(failed)")
            #expect(failed.errors.contains("with key \(TestCredentials.keyID) was issued 55 minutes ago"), "\(failed)")
            try renew()
            let directory = try #require(flags.firstIndex(of: "--run-dir").map { flags[$0 + 1] })
            let resumed = try sender.command(["resume", directory])
            #expect(resumed.ending == .exited(0), "\(resumed)")
        }

        @Test func `what cannot be used is refused before anything is sent, without showing it`() throws {
            try makeToken(age: 4000)
            let expired = try sender.command(try arguments(1))
            #expect(expired.ending == .exited(64), "\(expired)")
            #expect(expired.errors.contains("token.jwt: provider token: it was issued 66 minutes ago"), "\(expired)")
            try sender.scratch.write("hunter2.hunter2.hunter2\n", to: "token.jwt")
            let garbage = try sender.command(try arguments(1))
            #expect(garbage.ending == .exited(64), "\(garbage)")
            #expect(garbage.errors.contains("token.jwt: provider token: expected three parts"), "\(garbage)")
            #expect(!garbage.errors.contains("hunter2"))
            let both = try sender.command(try arguments(1, keyFlags))
            #expect(both.ending == .exited(64), "\(both)")
            #expect(both.errors.contains("there are --key-file and --provider-token-file; give only one"), "\(both)")
        }
    }
}
