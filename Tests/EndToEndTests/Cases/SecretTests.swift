import Foundation
import Testing

extension EndToEnd {
    /// Tests that the command writes no secret. `Child` checks this for every process of every test.
    @Suite struct SecretsKept {
        @Test(arguments: [
            ("-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIbZJ7W1kq6R", "a private key"),
            ("x MIGTAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIB y", "the body of a private key"),
            ("bearer eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJBIn0.c2ln", "a provider token"),
            ("given: öpen sesame", "a passphrase"),
            ("token " + String(repeating: "0aF9", count: 16) + ".", "a whole device token"),
            ("alert: don't miss them", "the text of a payload"),
            ("signed with whsec_MfKQ9r8GKYqrTwjU", "the secret of a webhook"),
            ("POST http://localhost/5ec2e7f0-webhook", "a URL that is a secret"),
        ])
        func `a secret in an output is found`(text: String, secret: String) {
            let key = "-----BEGIN\nMIGTAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIB\n-----END\n"
            #expect(Secrets.found(in: text, keys: [key]) == [secret])
            #expect(Secrets.found(in: "rows=5 accepted=5; token 00fc13ad…; AuthKey.p8", keys: [key]) == [])
        }

        @Test func `the command leaves no core files behind, for they would hold the keys`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let limits = try String(contentsOfFile: "/proc/\(simulator.processID)/limits", encoding: .utf8)
            let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
            #expect(line?.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
        }

        @Test(arguments: [("0600", nil), ("0640", "its group (mode 640)"), ("0604", "everybody (mode 604)")])
        func `send and check warn of a key that others may read`(mode: String, who: String?) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let input = try sender.makeRows(2)
            let key = sender.credentials.providerKey
            try prepare("chmod", [mode, key], in: sender.scratch)
            let warning = who.map { "apns-batch: warning: \(key) is accessible to \($0): run chmod 600 \(key)\n" } ?? ""
            let run = sender.newRunDirectory()
            let sent = try sender.command(
                sender.arguments(input, to: simulator.port, runDirectory: run, ["--template", Sender.template]))
            #expect(sent.ending == .exited(0) && warnings(sent) == warning, "\(sent)")
            let checked = try sender.command(
                ["check", "--input", input, "--template", Sender.template]
                    + ["--findings", sender.scratch.path("findings.csv")] + sender.credentials.flags)
            #expect(warnings(checked) == warning, "\(checked)")
        }

        /// The flags that name a file with a secret.
        private static let secretFiles = [
            "--key-file", "--provider-token-file", "--certificate-file", "--certificate-key-file",
            "--key-passphrase-file", "--proxy-password-file", "--ping-url-file", "--ca-file", "--template", "--run-dir",
        ]

        /// `Child` looks for the content of keys in what every process writes.
        @Test(arguments: secretFiles, ["key", "token", "url"])
        func `a secret in the place of its file's path is not shown`(flag: String, kind: String) throws {
            let sender = try Sender()
            let body = String(repeating: "Zk3/+", count: 30)
            let secret: String
            switch kind {
            case "key": secret = try String(contentsOfFile: sender.credentials.providerKey, encoding: .utf8)
            case "token":
                secret = "eyJ\(body.filter(\.isLetter)).eyJ\(body.filter(\.isLetter)).\(body.filter(\.isLetter))"
            default: secret = "https://localhost/\(body.filter(\.isLetter))"
            }
            // Only the flags of URLs are known to have secret ones.
            guard kind != "url" || flag.hasSuffix("url-file") else { return }
            for value in [["\(flag)=\(secret)"], [flag, secret]] {
                for command in [["send"], ["check", "--everything"]] {
                    let sent = try sender.command(
                        command + ["--to", "127.0.0.1:1", "--topic", "com.example.app", "--input", "rows.csv"] + value)
                    #expect([.exited(64), .exited(75)].contains(sent.ending))
                    let shown = sent.output + sent.errors
                    let has = shown.contains(String(body.filter(\.isLetter).prefix(40))) || shown.contains(secret)
                    #expect(!has)
                }
            }
        }

        /// Returns what standard error contains besides the progress.
        private func warnings(_ finished: Finished) -> String {
            finished.errors.split(separator: "\n").filter { $0.contains("is accessible to") }.map { "\($0)\n" }.joined()
        }

        @Test func `a proxy's password among the arguments is refused and not repeated`() throws {
            let sender = try Sender()
            let input = try sender.makeRows(1)
            let sent = try sender.command(
                sender.arguments(
                    input, to: 1, runDirectory: sender.newRunDirectory(),
                    ["--template", Sender.template, "--proxy", "http://nightly:moonlight@localhost:1"]))
            #expect(sent.ending == .exited(64), "\(sent)")
            #expect(
                sent.errors.contains(
                    "--proxy: expected http://HOST:PORT or http://USER@HOST:PORT; a password is a setting of its own (proxy_password_file)"
                ),
                "\(sent)")
            #expect(!sent.errors.contains("moonlight"))
        }

        @Test func `a file with a proxy's password that others may read is warned about`() throws {
            let sender = try Sender()
            let input = try sender.makeRows(1)
            let file = try sender.scratch.write("pass phrase of a test\n", to: "proxy-password")
            try prepare("chmod", ["0644", file], in: sender.scratch)
            let sent = try sender.command(
                sender.arguments(
                    input, to: 1, runDirectory: sender.newRunDirectory(),
                    [
                        "--template", Sender.template, "--proxy", "http://nightly@localhost:1",
                        "--proxy-password-file", file, "--connect-patience", "1",
                    ]))
            #expect(
                warnings(sent)
                    == "apns-batch: warning: \(file) is accessible to everybody (mode 644): run chmod 600 \(file)\n")
        }

        @Test func `doctor warns of a passphrase that others may read`() throws {
            let sender = try Sender()
            let file = try sender.scratch.write("pass phrase of a test\n", to: "passphrase")
            try prepare("chmod", ["0644", file], in: sender.scratch)
            let run = try sender.command(
                ["doctor", "--to", "localhost:1", "--key-passphrase-file", file] + sender.credentials.flags)
            #expect(
                run.errors
                    == "apns-batch: warning: \(file) is accessible to everybody (mode 644): run chmod 600 \(file)\n")
        }
    }
}
