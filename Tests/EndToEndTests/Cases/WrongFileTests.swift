import Foundation
import Testing

extension EndToEndRuns {
    /// Files that are not what they should be: a FIFO that nobody writes or reads, a socket, a directory, a device, links to these,
    /// and files of another run. The command says so and ends; it never waits, is never ended by a signal, and writes to none of them.
    @Suite struct WrongFiles {
        private enum Kind: String, CaseIterable {
            case fifo, socket, directory, device
            case linkToFIFO = "link-to-fifo"
        }

        /// A directory with a file of each kind, and the files of a campaign.
        private struct Stage {
            let sender: Sender
            let port: UInt16
            /// The settings of a campaign that is sent.
            private(set) var settings: [String: String]

            /// - Parameter port: Where a simulator of the sender listens; any if nothing is sent.
            init(_ sender: Sender, port: UInt16 = 1) throws {
                (self.sender, self.port) = (sender, port)
                let scratch = sender.scratch
                settings = [
                    "input": try sender.makeRows(20, "--plain"), "template": Tools.fixture("campaign/plain.json"),
                    "to": "localhost:\(port)", "topic": TestCredentials.topic, "expiration": "1h",
                    "key_file": sender.credentials.providerKey, "key_id": TestCredentials.keyID,
                    "team_id": TestCredentials.teamID, "ca_file": sender.credentials.authority, "connect_patience": "1",
                ]
                let made =
                    "cd '\(scratch.directory.path)' && mkfifo fifo && ln -s fifo link-to-fifo && mkdir directory"
                    + " && ln -s /dev/zero device && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'"
                    + " && umask 077 && echo http://127.0.0.1:1/ > url && echo whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw > secret"
                    + " && openssl pkcs8 -topk8 -in '\(sender.credentials.providerKey)' -passout pass:a -out encrypted.p8"
                    + " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=a -keyout own.key"
                    + " -out own.pem"
                try prepare("/bin/sh", ["-c", made], in: scratch)
            }

            func path(_ name: String) -> String { sender.scratch.path(name) }

            /// Sends the campaign with some settings changed; nil removes one.
            func send(_ changes: [String: String?]) throws -> Finished {
                var settings: [String: String?] = settings
                settings["run_dir"] = sender.newRunDirectory()
                settings.merge(changes) { $1 }
                let text = settings.sorted { $0.key < $1.key }.reduce(into: "") { text, setting in
                    if let value = setting.value { text += "\(setting.key): \(value)\n" }
                }
                let file = try sender.scratch.write(text, to: "campaign-\(sender.scratch.nextNumber()).yaml")
                return try Child.run(Tools.command, ["send", file], name: "send", in: sender.scratch, seconds: 60)
            }
        }

        /// What a campaign file must say so that a setting's file is opened, by the setting.
        private static func changes(_ setting: String, _ path: String, _ stage: Stage) -> [String: String?]? {
            let noKey: [String: String?] = ["key_file": nil, "key_id": nil, "team_id": nil]
            func with(_ more: [String: String?]) -> [String: String?] { noKey.merging(more) { $1 } }
            return switch setting {
            case "input", "template", "key_file", "ca_file", "run_dir", "state_dir", "ping_url_file",
                "metrics_textfile":
                [setting: path]
            case "templates": ["template": nil, "templates": "{en: \(path)}", "fallback": "en"]
            case "variants": ["template": nil, "variants": "{a: \(path)}", "fallback": "a"]
            case "strings": ["strings": "[\(path)]"]
            case "simulator_script": with(["to": "simulator", "topic": nil, "ca_file": nil, setting: path])
            case "proxy_password_file": ["proxy": "http://me@127.0.0.1:1", setting: path]
            case "provider_token_file", "certificate_file": with([setting: path])
            case "certificate_key_file": with(["certificate_file": stage.path("own.pem"), setting: path])
            case "key_passphrase_file": ["key_file": stage.path("encrypted.p8"), setting: path]
            case "rate_shared": ["rate": "1000/s", setting: path]
            case "url_file": ["webhooks": "[{url_file: \(path), secret_file: \(stage.path("secret"))}]"]
            case "secret_file": ["webhooks": "[{url_file: \(stage.path("url")), secret_file: \(path)}]"]
            default: nil
            }
        }

        /// The settings whose value is a path, from the table that is made of them, and those of a webhook.
        private static let settings: [String] = {
            let page = Tools.root.appending(path: "docs/reference/settings.md")
            let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
            return text.matches(of: #/(?m)^\| `([a-z_]+)` \| (?:list of )?path/#).map { String($0.output.1) }
                + ["url_file", "secret_file"]
        }()

        /// What is in its place: a directory where one is named, and an input that is a stream.
        private static let right: [String: Set<Kind>] = [
            "run_dir": [.directory], "state_dir": [.directory], "metrics_textfile": [.directory],
            "input": [.fifo, .linkToFIFO],
        ]

        @Test(arguments: settings)
        func `a file of a setting that is none is refused at once`(setting: String) throws {
            #expect(Self.settings.count >= 20)
            let stage = try Stage(try Sender())
            for kind in Kind.allCases where Self.right[setting]?.contains(kind) != true {
                var path = stage.path(kind.rawValue)
                if setting == "metrics_textfile" {
                    path += ".prom"
                    symlink(kind.rawValue, path)
                }
                let changes = try #require(Self.changes(setting, path, stage), "add \(setting) to this test")
                let finished = try stage.send(changes)
                #expect(finished.ending == .exited(64), "\(setting) \(kind): \(finished)")
                #expect(finished.errors.contains(path), "\(setting) \(kind): \(finished)")
            }
        }

        /// An output that somebody names may be a device, but nobody waits for the reader of a FIFO.
        @Test func `an output that is a FIFO which nobody reads is refused`() throws {
            let stage = try Stage(try Sender())
            for name in ["fifo", "socket", "directory", "link-to-fifo"] {
                let path = stage.path(name)
                let finished = try Child.run(
                    Tools.command,
                    [
                        "check", "--input", stage.settings["input"] ?? "", "--template",
                        Tools.fixture("campaign/plain.json"), "--topic", "com.example.app", "--findings", path,
                    ], name: "check", in: stage.sender.scratch, seconds: 60)
                guard case .exited(let code) = finished.ending, code != 0 else {
                    Issue.record("\(name): \(finished)")
                    continue
                }
                #expect(finished.errors.contains(path), "\(finished)")
            }
        }

        // MARK: The directory of a run

        /// Runs a campaign that leaves every kind of file in its directory, and returns the directory.
        ///
        /// - Parameter outbox: Whether there are events that wait. Each later run tries for five seconds to deliver them.
        private static func run(_ stage: Stage, _ name: String, outbox: Bool) throws -> String {
            let directory = stage.path(name)
            try FileManager.default.createDirectory(atPath: stage.path("runs"), withIntermediateDirectories: true)
            let webhook = "[{url_file: \(stage.path("url")), secret_file: \(stage.path("secret")), timeout: 1}]"
            let finished = try stage.send([
                "run_dir": directory, "spool": "always", "webhooks": outbox ? webhook : nil,
            ])
            try #require(finished.ending == .exited(0), "\(finished)")
            return directory
        }

        private static func content(_ directory: String) throws -> [String: Data] {
            try FileManager.default.subpathsOfDirectory(atPath: directory).reduce(into: [:]) { all, name in
                var isDirectory: ObjCBool = false
                let path = "\(directory)/\(name)"
                if FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), !isDirectory.boolValue {
                    all[name] = try Data(contentsOf: URL(filePath: path))
                }
            }
        }

        @Test(arguments: [false, true])
        func `no file of a run is a FIFO, a device or a file of another run`(isInOutbox: Bool) throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let stage = try Stage(sender, port: simulator.port)
            let other = try Self.run(stage, "runs/other", outbox: isInOutbox)
            let before = try Self.content(other)
            let own = before.filter { !$0.key.contains("/") }
            let added = isInOutbox ? [] : ["report.html", "report.txt", "report.json", "summary.json"]
            let names = Set(before.keys).filter { $0.contains("/") == isInOutbox }.union(added)
            #expect(names.count >= (isInOutbox ? 2 : 8), "\(names)")
            for name in names.sorted() {
                for kind in [Kind.fifo.rawValue, Kind.device.rawValue, "link-to-other"] {
                    let directory = stage.path("runs/next")
                    try FileManager.default.copyItem(atPath: other, toPath: directory)
                    let path = "\(directory)/\(name)"
                    try FileManager.default.removeItem(atPath: path)
                    if kind == "fifo" {
                        mkfifo(path, 0o600)
                    } else {
                        symlink(kind == "device" ? stage.path(kind) : "\(other)/\(name)", path)
                    }
                    for command in ["resume", "report", "status"] {
                        let start = ContinuousClock.now
                        let finished = try Child.run(
                            Tools.command, [command, directory], name: command, in: stage.sender.scratch, seconds: 60)
                        guard case .exited = finished.ending, .now - start < .seconds(25) else {
                            Issue.record("\(name) \(kind): \(command) \(finished)")
                            continue
                        }
                        // Events that wait in the outbox of an earlier night are delivered by each later run.
                        let now = try Self.content(other).filter { !$0.key.contains("/") }
                        #expect(now == own, "\(name) \(kind): \(command) \(finished)")
                    }
                    try FileManager.default.removeItem(atPath: directory)
                }
            }
            _ = try simulator.stop()
        }

        @Test func `a run ends although its report or its metrics are a FIFO`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let stage = try Stage(sender, port: simulator.port)
            let directory = stage.sender.newRunDirectory()
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            for name in ["report.html", "invalid-tokens.csv"] { #expect(mkfifo("\(directory)/\(name)", 0o600) == 0) }
            let finished = try stage.send(["run_dir": directory])
            guard case .exited = finished.ending else {
                Issue.record("\(finished)")
                return
            }
            #expect(finished.errors.contains("it is a FIFO, not a file"), "\(finished)")
            #expect(try RunResults(directory).count("accepted") == 20)
            _ = try simulator.stop()
        }

        /// What another program does to the files of a run while it goes on ends it with no signal.
        @Test func `a run goes on although its hand-over record and the shared rate are cut off`() throws {
            let sender = try Sender()
            let simulator = try SimulatorProcess(sender)
            let (directory, rate) = (sender.newRunDirectory(), sender.scratch.path("rate"))
            let process = try sender.start(
                try sender.makeRows(400, "--plain"), to: simulator.port, runDirectory: directory,
                ["--template", Tools.fixture("campaign/plain.json"), "--rate", "100/s", "--rate-shared", rate])
            let hasBegun = eventually(seconds: 60) {
                process.isOver
                    || (try? String(contentsOfFile: directory + "/results.csv", encoding: .utf8))?.count ?? 0 > 200
            }
            try #require(hasBegun && !process.isOver, "\(process.errors)")
            for _ in 0..<20 {
                #expect(truncate(rate, 0) == 0 && truncate(directory + "/ledger.board", 0) == 0)
                usleep(20_000)
            }
            #expect(process.wait(seconds: 120) == .exited(0), "\(process.errors)")
            try RunResults(directory).expectComplete(rows: 400)
            _ = try simulator.stop()
        }
    }
}
