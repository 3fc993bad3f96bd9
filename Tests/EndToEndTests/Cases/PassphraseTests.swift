import Foundation
import Testing

extension EndToEnd {
    /// Tests of encrypted keys and certificates, and of certificates that expire.
    @Suite struct Passphrases {
        static let passphrase = "öpen sesame"

        /// Returns a sender's provider flags with an encrypted key.
        private func encryptedKey(_ sender: Sender) throws -> [String] {
            let path = sender.scratch.path("AuthKey.enc.p8")
            try prepare(
                "openssl",
                [
                    "pkcs8", "-topk8", "-in", sender.credentials.providerKey, "-out", path, "-passout",
                    "pass:\(Self.passphrase)",
                ], in: sender.scratch)
            return [
                "--topic", TestCredentials.topic, "--key-file", path, "--key-id", TestCredentials.keyID, "--team-id",
                TestCredentials.teamID, "--ca-file", sender.credentials.authority,
            ]
        }

        private func arguments(_ sender: Sender, to port: UInt16) throws -> [String] {
            let input = try sender.makeRows(5)
            return try ["send", "--input", input, "--template", Sender.template, "--to", "localhost:\(port)"]
                + ["--run-dir", sender.newRunDirectory()] + encryptedKey(sender)
        }

        @Test(arguments: ["file", "environment", "terminal"])
        func `an encrypted signing key is opened by the passphrase that is given`(source: String) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            var arguments = try arguments(sender, to: simulator.port)
            var program = Tools.command
            switch source {
            case "file":
                arguments += [
                    "--key-passphrase-file", try sender.scratch.write(Self.passphrase + "\r\nmore\n", to: "passphrase"),
                ]
            case "environment": arguments += ["--key-passphrase-env", "TEST_PASSPHRASE"]
            default:
                arguments = [Tools.peer("type_passphrase.py"), Self.passphrase, program] + arguments
                program = Tools.python
            }
            let run = try Child.run(
                program, arguments, name: "send", in: sender.scratch,
                environment: ["TEST_PASSPHRASE": Self.passphrase], seconds: 60)
            #expect(run.ending == .exited(0), "\(run)")
            #expect(run.output.contains("rows=5 accepted=5 "))
            #expect(
                run.output.contains("Passphrase of \(sender.scratch.path("AuthKey.enc.p8")): ")
                    == (source == "terminal"))
        }

        @Test func `a wrong passphrase, a missing one, or two of them: nothing is sent`() throws {
            let sender = try Sender()
            let arguments = try arguments(sender, to: 1)
            let wrong = try sender.scratch.write("wrong\n", to: "wrong")
            func errors(_ more: [String]) throws -> String {
                // setsid runs the command without a terminal at which it could ask, even if the tests have one.
                let run = try Child.run(
                    "setsid", ["--wait", Tools.command] + arguments + more, name: "send", in: sender.scratch)
                #expect(run.ending == .exited(64), "\(run)")
                return run.errors
            }
            #expect(
                try errors([])
                    == "apns-batch: \(arguments[arguments.firstIndex(of: "--key-file")! + 1]): signing key: the key is "
                    + "encrypted and no passphrase was given; give "
                    + "--key-passphrase-file or --key-passphrase-env\n")
            #expect(
                try errors(["--key-passphrase-file", wrong])
                    .contains(": signing key: the passphrase does not open the key"))
            #expect(
                try errors(["--key-passphrase-env", "NO_SUCH_VARIABLE"])
                    == "apns-batch: --key-passphrase-env: the environment variable NO_SUCH_VARIABLE is not set\n")
            #expect(
                try errors(["--key-passphrase-env", "HOME", "--key-passphrase-file", wrong])
                    == "apns-batch: give either --key-passphrase-file or --key-passphrase-env, not both\n")
        }

        /// Sends rows to a port without a server, with a client certificate that is valid for this many days.
        private func send(
            file: String, days: Int, environment: [String: String] = [:]
        ) throws -> Finished {
            let scratch = try Scratch()
            try prepare(
                Tools.python,
                [Tools.peer("make_client_certificate.py"), scratch.directory.path, "secret", String(days)], in: scratch)
            let input = try scratch.write(
                "token,payload\nabcd,\"{\"\"aps\"\":{\"\"alert\"\":\"\"Hi\"\"}}\"\n", to: "rows.csv")
            var environment = environment
            environment["TEST_PASSPHRASE"] = "secret"
            return try Child.run(
                Tools.command,
                [
                    "send", "--input", input, "--to", "localhost:1", "--topic", "com.example.app", "--connect-patience",
                    "1",
                    "--certificate-file", scratch.path(file), "--key-passphrase-env", "TEST_PASSPHRASE", "--run-dir",
                    scratch.path("run"),
                ], name: "send", in: scratch, environment: environment, seconds: 60)
        }

        @Test(arguments: ["client.pem", "client.p12", "old.p12"])
        func `a client certificate that ends within 30 days is warned about`(file: String) throws {
            let late = try send(file: file, days: 29)
            // No server listens, so every step before the connection succeeded.
            #expect(late.ending == .exited(69), "\(late)")
            let name = #"client certificate "Apple Push Services: com.example.app" expires on "#
            #expect(late.errors.contains(name) && late.errors.contains(" UTC, in 29 days"), "\(late)")
        }

        @Test func `one that has longer is not mentioned, one that has ended is an error`() throws {
            let good = try send(file: "client.pem", days: 31)
            #expect(good.ending == .exited(69) && !good.errors.contains("expire"), "\(good)")
            let over = try send(file: "client.p12", days: -2)
            #expect(over.ending == .exited(64))
            #expect(
                over.errors.hasPrefix(
                    #"apns-batch: client certificate "Apple Push Services: com.example.app": expired on "#), "\(over)")
        }

        @Test func `an old PKCS#12 file without OpenSSL's legacy provider says what is missing`() throws {
            let run = try send(file: "old.p12", days: 31, environment: ["OPENSSL_MODULES": "/nonexistent"])
            #expect(
                run.errors
                    .hasSuffix(
                        "/old.p12: client certificate: the PKCS#12 file is encrypted with an old algorithm, and OpenSSL's "
                            + "legacy provider, which has it, cannot be loaded\n"), "\(run)")
            #expect(run.ending == .exited(64))
        }
    }
}
