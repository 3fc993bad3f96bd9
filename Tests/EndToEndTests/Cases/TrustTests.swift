import Foundation
import Testing

extension EndToEnd {
    /// Tests of the certificates that the sender trusts by default.
    @Suite struct Trust {
        @Test(arguments: ["file", "directory", "none"])
        func
            `the system's certificates are trusted, be they in a directory or in one file, which is read only if it is needed`(
                place: String
            ) throws
        {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let directory = sender.scratch.path("trusted")
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            var environment = ["SSL_CERT_FILE": directory + "/absent.pem", "SSL_CERT_DIR": directory]
            switch place {
            case "file": environment["SSL_CERT_FILE"] = sender.credentials.authority
            case "directory":
                try FileManager.default.copyItem(
                    atPath: sender.credentials.authority, toPath: directory + "/authority.pem")
                try prepare("openssl", ["rehash", directory], in: sender.scratch)
                // Nobody writes to this pipe, so a sender that opened it would wait forever.
                try prepare("mkfifo", [directory + "/absent.pem"], in: sender.scratch)
            default: break
            }
            let input = try sender.makeRows(2000)
            let run = try Child.run(
                Tools.command,
                [
                    "send", "--input", input, "--template", Sender.template, "--to", "localhost:\(simulator.port)",
                    "--run-dir", sender.newRunDirectory(), "--connect-patience", "5",
                    "--topic", TestCredentials.topic, "--key-file", sender.credentials.providerKey,
                    "--key-id", TestCredentials.keyID, "--team-id", TestCredentials.teamID,
                ], name: "send", in: sender.scratch, environment: environment, seconds: 120)
            #expect(run.ending == .exited(place == "none" ? 69 : 0), "\(run)")
            #expect(run.output.contains("rows=2000 accepted=2000 ") == (place != "none"))
        }
    }
}
