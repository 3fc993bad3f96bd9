import APNSBatchTestSupport
import Foundation
import Testing

extension EndToEndRuns {
    /// What `check --everything` and `doctor` find is what `run` would end with: each fault of a table is tried with all three.
    @Suite struct Preflights {
        typealias Night = ExitCodeMatrix.Night

        /// Something that is wrong with a night.
        private struct Fault: Sendable {
            /// The exit code.
            let code: Int32
            /// The part that has it.
            let part: String
            /// Whether it is found without reading rows.
            var isFoundByDoctor = true
            /// Makes it. What is returned is kept until the end.
            let make: @Sendable (Night) throws -> AnyObject?

            /// The beginning of the line about it.
            var mark: String { (code == 2 ? "warning  " : "error    ") + part }

            init(
                _ code: Int32, _ part: String, isFoundByDoctor: Bool = true,
                make: @escaping @Sendable (Night) throws -> AnyObject?
            ) {
                (self.code, self.part, self.isFoundByDoctor, self.make) = (code, part, isFoundByDoctor, make)
            }

            /// A fault that settings make.
            init(
                _ code: Int32, _ part: String, _ settings: [String: String?], isFoundByDoctor: Bool = true
            ) {
                self.init(code, part, isFoundByDoctor: isFoundByDoctor) {
                    try $0.write(settings)
                    return nil
                }
            }
        }

        private static let faults: [String: Fault] = [
            "none": Fault(0, "", [:]),
            "a directory of metrics that is missing": Fault(
                64, "metrics_textfile", ["metrics_textfile": "nowhere/m.prom"]),
            "a file of another program in place of metrics": Fault(64, "metrics_textfile") {
                try $0.sender.scratch.write("mine\n", to: "mine.prom")
                try $0.write(["metrics_textfile": "mine.prom"])
                return nil
            },
            "a port of metrics that is in use": Fault(75, "metrics_listen") {
                try $0.write(["metrics_listen": "127.0.0.1:\($0.simulator.port)"])
                return nil
            },
            "an address of metrics that is not this machine's": Fault(
                64, "metrics_listen", ["metrics_listen": "192.0.2.1:0"]),
            "a run directory below a file": Fault(
                64, "run_dir", ["run_dir": "payload.json/tonight", "state_dir": "state"]),
            "a state directory below a file": Fault(64, "state_dir", ["state_dir": "payload.json/state"]),
            "a state directory whose history is a directory": Fault(64, "state_dir") {
                try $0.make(directory: "state/runs.ndjson")
                try $0.write(["state_dir": "state"])
                return nil
            },
            "no file of the monitor's URL": Fault(64, "ping_url_file", ["ping_url_file": "nowhere"]),
            "no URL in the monitor's file": Fault(64, "ping_url_file", ["ping_url_file": "payload.json"]),
            "no files of a webhook": Fault(
                64, "webhooks", ["webhooks": "[{ url_file: nowhere, secret_file: nowhere }]"]),
            "no key": Fault(64, "settings", ["key_file": "nowhere.p8"]),
            "a key that is none": Fault(64, "settings", ["key_file": "payload.json"]),
            "no key id": Fault(64, "settings", ["key_id": nil]),
            "no template": Fault(64, "settings", ["template": "nowhere.json"]),
            "no certificates of servers": Fault(64, "settings", ["ca_file": "nowhere.pem"]),
            "no password of the proxy": Fault(
                64, "settings", ["proxy": "http://user@127.0.0.1:1", "proxy_password_file": "nowhere"]),
            "a number out of range": Fault(64, "settings", ["connections": "100000"]),
            "an input command that is missing": Fault(
                64, "input", ["input": nil, "input_command": "[/nonexistent/export]"]),
            "a spread over the rows of a program": Fault(0, "") {
                try $0.write(["input": nil, "input_command": "[cat, '\($0.input)']", "spread": "1s"])
                return nil
            },
            "too few rows of a program": Fault(64, "input", isFoundByDoctor: false) {
                try $0.write(["input": nil, "input_command": "[cat, '\($0.input)']", "min_rows": "201"])
                return nil
            },
            "an input command that fails": Fault(
                75, "input", ["input": nil, "input_command": "[/bin/sh, -c, exit 3]"], isFoundByDoctor: false),
            "a database that is out of reach": Fault(
                75, "input", ["input": nil, "input_query": "{ database: 'host=/nowhere', query: 'SELECT 1' }"],
                isFoundByDoctor: false),
            "no input yet": Fault(75, "run_dir") {
                try FileManager.default.removeItem(atPath: $0.input)
                return nil
            },
            "no file of a pattern": Fault(75, "run_dir", ["input": "\"exports-*.csv\""]),
            "an input that is too old": Fault(75, "run_dir") {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date.now.addingTimeInterval(-86_400)], ofItemAtPath: $0.input)
                try $0.write(["require_fresh": "20h"])
                return nil
            },
            "too few rows": Fault(64, "input", ["min_rows": "201"]),
            "a template with a column that is missing": Fault(64, "input") {
                try $0.sender.scratch.write(#"{"aps":{"alert":"Hi {{nome}}"}}"#, to: "payload.json")
                return nil
            },
            "a template that breaks a rule": Fault(64, "input", isFoundByDoctor: true) {
                try $0.sender.scratch.write(#"{"aps":{"alert":5}}"#, to: "payload.json")
                return nil
            },
            "an input of another format": Fault(64, "input") {
                try "PAR1........PAR1".write(toFile: $0.input, atomically: true, encoding: .utf8)
                return nil
            },
            "an input without rows": Fault(2, "input", isFoundByDoctor: false) {
                try "token,name\n".write(toFile: $0.input, atomically: true, encoding: .utf8)
                return nil
            },
            "a row that cannot be sent": Fault(2, "input", isFoundByDoctor: false) {
                let rows = try String(contentsOfFile: $0.input, encoding: .utf8)
                try (rows + "no token,Ada\n").write(toFile: $0.input, atomically: true, encoding: .utf8)
                return nil
            },
            "a row that cannot be sent, and need not be": Fault(0, "") {
                let rows = try String(contentsOfFile: $0.input, encoding: .utf8)
                try (rows + "no token,Ada\n").write(toFile: $0.input, atomically: true, encoding: .utf8)
                try $0.write(["expect": "[invalid <= 1%]"])
                return nil
            },
            "rows of which most cannot be sent": Fault(64, "input", isFoundByDoctor: false) {
                let rows = String(repeating: "no token,Ada\n", count: 300)
                try ("token,name\n" + rows).write(toFile: $0.input, atomically: true, encoding: .utf8)
                return nil
            },
            "rows of a program of which most cannot be sent": Fault(64, "input", isFoundByDoctor: false) {
                let rows = String(repeating: "no token,Ada\n", count: 300)
                try ("token,name\n" + rows).write(toFile: $0.input, atomically: true, encoding: .utf8)
                try $0.write(["input": nil, "input_command": "[cat, '\($0.input)']"])
                return nil
            },
            "rows of a program that are expected to be valid": Fault(64, "input", isFoundByDoctor: false) {
                let rows = try String(contentsOfFile: $0.input, encoding: .utf8)
                try (rows + "no token,Ada\n").write(toFile: $0.input, atomically: true, encoding: .utf8)
                try $0.write(["input": nil, "input_command": "[cat, '\($0.input)']", "expect": "[invalid < 0.1%]"])
                return nil
            },
            "rows that cannot be sent before those that are": Fault(0, "") {
                let rows = String(repeating: "no token,Ada\n", count: 300)
                let good = try String(contentsOfFile: $0.input, encoding: .utf8).split(separator: "\n").dropFirst()
                let all = "token,name\n" + rows + good.joined(separator: "\n") + "\n"
                try all.write(toFile: $0.input, atomically: true, encoding: .utf8)
                try $0.write(["from_row": "301"])
                return nil
            },
            "result columns that an unfinished run does not have": Fault(64, "run_dir") {
                let process = try $0.slow()
                _ = try $0.end(process, by: SIGTERM)
                try $0.write(["result_columns": "[name]"])
                return nil
            },
            "several files with rows of which most cannot be sent": Fault(64, "input", isFoundByDoctor: false) {
                for name in ["a.csv", "b.csv"] {
                    let rows = String(repeating: "no token,Ada\n", count: 300)
                    try $0.sender.scratch.write("token,name\n" + rows, to: name)
                }
                try $0.write(["input": "[a.csv, b.csv]"])
                return nil
            },
            "a shared rate in a directory that is missing": Fault(
                64, "rate_shared", ["rate": "1000/s", "rate_shared": "nowhere/rate"]),
            "a shared rate in another program's file": Fault(
                64, "rate_shared", ["rate": "1000/s", "rate_shared": "payload.json"]),
            "a shared rate without a rate": Fault(64, "rate_shared", ["rate_shared": "rate"]),
            "results of another program": Fault(64, "run_dir") {
                try $0.make(directory: "runs/tonight")
                try $0.sender.scratch.write("mine\n", to: "runs/tonight/results.csv")
                return nil
            },
            "the run of another campaign": Fault(64, "run_dir") {
                #expect(try $0.call() == 0)
                try $0.write(["name": "other"])
                return nil
            },
            "another input this night": Fault(64, "run_dir") {
                #expect(try $0.call() == 0)
                try $0.write(["input": try $0.sender.makeRows(20, "--plain", "--seed", "other")])
                return nil
            },
            "a history that was removed": Fault(0, "") {
                #expect(try $0.call() == 0)
                try FileManager.default.removeItem(atPath: $0.sender.scratch.path("runs/runs.ndjson"))
                return nil
            },
            "another process at work": Fault(75, "run_dir") { try $0.slow(rate: "2/s") },
            "a ledger that is a link": Fault(64, "run_dir") {
                let process = try $0.slow()
                _ = try $0.end(process, by: SIGTERM)
                try FileManager.default.moveItem(atPath: $0.run + "/ledger", toPath: $0.run + "/moved")
                try FileManager.default.createSymbolicLink(
                    atPath: $0.run + "/ledger", withDestinationPath: $0.run + "/moved")
                return nil
            },
            "a key that the server does not know": Fault(
                69, "provider token at localhost", ["key_id": "WRONGKEY00", "connect_patience": "1"]),
            "a server that is not there": Fault(69, "connect localhost") {
                _ = try $0.simulator.stop()
                try $0.write(["connect_patience": "1"])
                return nil
            },
            "a proxy that is not there": Fault(69, "connect localhost") {
                let closed = ReservedPort()
                try $0.write(["proxy": "http://127.0.0.1:\(closed.number)", "connect_patience": "1"])
                return closed
            },
            "a host that nobody knows": Fault(
                69, "dns host.invalid", ["to": "host.invalid:443", "connect_patience": "1"]),
        ]

        /// A night on which nothing is wrong, not even a warning.
        private static func night() throws -> Night {
            let night = try Night()
            chmod(night.sender.credentials.providerKey, 0o600)
            return night
        }

        private static let names = faults.keys.sorted()

        @Test(arguments: names)
        func `check --everything and doctor have the exit code of run`(name: String) throws {
            let (night, fault) = (try Self.night(), try #require(Self.faults[name]))
            let kept = try fault.make(night)
            defer { (kept as? Child)?.stop(SIGKILL) }
            let before = try night.files()
            let found = try night.check()
            #expect(try night.code(found) == fault.code, "\(name): \(found)")
            if fault.code != 0 {
                #expect(found.output.contains("\n\(fault.mark)") || found.output.hasPrefix(fault.mark), "\(found)")
            }
            let doctor = try night.sender.command(["doctor", night.file])
            #expect(try night.code(doctor) == (fault.isFoundByDoctor ? fault.code : 0), "\(name): \(doctor)")
            if !(kept is Child) { #expect(try night.files() == before) }
            #expect(try night.call() == fault.code, "\(name)")
        }

        @Test func `all faults are found at once, and what a person must change decides`() throws {
            let night = try Self.night()
            try night.write([
                "metrics_textfile": "nowhere/m.prom", "metrics_listen": "127.0.0.1:\(night.simulator.port)",
                "ping_url_file": "nowhere", "key_file": "nowhere.p8", "template": "nowhere.json",
                "input": "nowhere.csv",
            ])
            let before = try night.files()
            let found = try night.check()
            #expect(found.ending == .exited(64))
            let errors = found.outputLines.filter { $0.hasPrefix("error") }
            for part in ["metrics_textfile", "metrics_listen", "ping_url_file", "run"] {
                #expect(errors.count { $0.hasPrefix("error    \(part): ") } == 1, "\(part): \(found)")
            }
            // The campaign file and the line of each are named.
            #expect(errors.count { $0.hasPrefix("error    settings: ") } == 2, "\(found)")
            #expect(errors.contains { $0.contains("nightly.yaml:") && $0.contains("nowhere.json") }, "\(found)")
            #expect(
                found.outputLines.last?.hasPrefix("error    run: would end with exit code 64; ") == true, "\(found)")
            #expect(try night.files() == before)
        }

        @Test func `a fault hides no other one that does not depend on it`() throws {
            func expect(_ night: Night, _ parts: [String], _ fine: [String] = []) throws {
                for found in [try night.check(), try night.sender.command(["doctor", night.file])] {
                    #expect(try night.code(found) == 64, "\(found)")
                    for part in parts { #expect(found.output.contains("error    \(part): "), "\(part): \(found)") }
                    for part in fine { #expect(found.output.contains("ok       \(part): "), "\(part): \(found)") }
                }
            }
            let places: [String: String?] = ["run_dir": "payload.json/tonight", "state_dir": "payload.json/state"]
            let night = try Self.night()
            // Only the check of the rows reads them without credentials.
            try night.write(places.merging(["key_file": "nowhere.p8"]) { $1 })
            try expect(night, ["settings", "state_dir", "run_dir"])
            try night.write(places.merging(["template": "nowhere.json", "input": "nowhere.csv"]) { $1 })
            try expect(night, ["settings", "state_dir", "run_dir", "input"])
            // The export of yesterday is no reason to find the faults of the night only in the night.
            try FileManager.default.setAttributes(
                [.modificationDate: Date.now.addingTimeInterval(-172_800)], ofItemAtPath: night.input)
            try night.write(["require_fresh": "20h", "run_dir": "payload.json/tonight", "state_dir": "state"])
            try expect(night, ["run_dir"])
            try night.write(["require_fresh": "20h", "min_rows": "201"])
            try expect(night, ["input"], ["run_dir", "state_dir"])
            try night.write(["require_fresh": "20h"])
            let found = try night.check()
            #expect(try night.code(found) == 75 && found.output.contains("ok       disk: "), "\(found)")
        }

        @Test func `a campaign without a fault is tried in every part, and nothing is sent or left`() throws {
            let night = try Self.night()
            try night.sender.scratch.write("https://example.com/ping\n", to: "url")
            try night.make(directory: "metrics")
            try night.write([
                "metrics_textfile": "metrics", "metrics_listen": "127.0.0.1:0", "ping_url_file": "url",
                "on_complete": "[sh, -c, exit 0]", "rate": "100/s", "rate_shared": "rate", "run_dir": "new/runs/{date}",
                "state_dir": "new/state",
            ])
            let before = try night.files()
            let found = try night.check()
            #expect(found.ending == .exited(0), "\(found)")
            let parts = [
                "settings", "ping_url_file", "metrics_textfile", "metrics_listen", "on_complete", "curl", "state_dir",
                "run_dir", "rate_shared", "input", "disk", "time", "clock", "run",
            ]
            for part in parts { #expect(found.output.contains("ok       \(part): "), "\(part): \(found)") }
            #expect(found.output.contains("ok       time: 200 rows take at least "), "\(found)")
            #expect(found.output.contains("ok       provider token at localhost:\(night.simulator.port): accepted; "))
            #expect(found.outputLines.last?.hasPrefix("rows=200 good=200 bad=0 ") == true, "\(found)")
            #expect(try night.files() == before)
            #expect(try night.simulator.stop().isEmpty)
        }

        @Test func `what run does without is a warning`() throws {
            let night = try Self.night()
            try night.write(["on_complete": "[/nonexistent/mail]"])
            let found = try night.check()
            #expect(found.ending == .exited(2), "\(found)")
            #expect(found.output.contains("warning  on_complete: /nonexistent/mail cannot be started: "), "\(found)")
            #expect(try night.call() == 0)
        }

        @Test func `doctor looks at the campaign's own server, and says so in JSON, too`() throws {
            let night = try Self.night()
            let found = try night.sender.command(["doctor", night.file, "--json"])
            #expect(found.ending == .exited(0), "\(found)")
            let objects = try found.outputLines.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
            }
            #expect(objects.contains { $0["what"] == "tls localhost:\(night.simulator.port)" }, "\(found)")
            #expect(!found.output.contains("push.apple.com"))
            #expect(objects.last?["what"] == "run" && objects.last?["level"] == "ok", "\(found)")
        }

        @Test(.enabled(if: Tools.canMount))
        func `a disk that is too small is said with both numbers before the first push`() throws {
            let night = try Self.night()
            func onDisk(_ size: String, _ command: String) throws -> Finished {
                let script =
                    "mkdir -p small && mount -t tmpfs -o size=\(size) tmpfs small && exec \"$0\" \(command) \"$1\" --run-dir small/run"
                return try Child.run(
                    "unshare",
                    [
                        "-rm", "bash", "-c", "cd '\(night.sender.scratch.directory.path)' && " + script, Tools.command,
                        night.file,
                    ],
                    name: "small", in: night.sender.scratch, seconds: 60)
            }
            for command in ["run", "check --everything"] {
                let refused = try onDisk("128k", command)
                #expect(refused.ending == .exited(75), "\(refused)")
                let text = refused.output + refused.errors
                #expect(text.contains("200 rows need 256,000 bytes on this disk, and 1"), "\(refused)")
            }
            #expect(try onDisk("1m", "check --everything").ending == .exited(0))
            #expect(try onDisk("1m", "run").ending == .exited(0))
            #expect(try night.simulator.stop().count == 200)
        }
    }
}

extension EndToEndRuns.Preflights.Night {
    fileprivate func check() throws -> Finished {
        try sender.command(["check", file, "--everything", "--findings", sender.scratch.path("findings.csv")])
    }

    fileprivate func make(directory: String) throws {
        try FileManager.default.createDirectory(
            atPath: sender.scratch.path(directory), withIntermediateDirectories: true)
    }

    /// All directories, and all files with their lengths and times, but those that hold the output of processes and the findings.
    fileprivate func files() throws -> Set<String> {
        let all = FileManager.default.enumerator(atPath: sender.scratch.directory.path)?.allObjects as? [String] ?? []
        let kept = all.filter { path in ![".out", ".err"].contains { path.hasSuffix($0) } && path != "findings.csv" }
        return Set(
            try kept.map { path in
                let facts = try FileManager.default.attributesOfItem(atPath: sender.scratch.path(path))
                // A file that was made beside the others and removed changes the time of a directory.
                if facts[.type] as? FileAttributeType == .typeDirectory { return path }
                return "\(path) \(facts[.size] ?? 0) \(facts[.modificationDate] ?? 0)"
            })
    }
}
