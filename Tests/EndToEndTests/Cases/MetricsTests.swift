import APNSBatchTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Tests of the metrics that a run publishes in a file and at an address.
    @Suite struct Metrics {
        private static let plain = ["--template", Tools.fixture("campaign/plain.json"), "--expiration", "1h"]

        /// A directory for the textfile collector, and runs that write to it.
        private struct Stage {
            let sender = try! Sender()
            let input: String
            var directory: String { sender.scratch.path("prom") }
            var file: String { directory + "/apns_batch_nightly.prom" }

            init(rows: Int) throws {
                input = try sender.makeRows(rows, "--plain")
                try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            }

            func arguments(_ more: [String], input: String? = nil) -> [String] {
                [
                    "send", "--input", input ?? self.input, "--to", "simulator", "--run-dir", sender.newRunDirectory(),
                    "--name",
                    "nightly",
                ] + Metrics.plain + more
            }

            func send(_ more: String...) throws -> Finished { try sender.command(arguments(more)) }

            /// Starts a run that writes its textfile each second and ends when its input is closed, and writes the rows to it.
            func start(_ more: String...) throws -> Child {
                let each = ["--metrics-textfile", directory, "--metrics-interval", "1", "--spool", "never"]
                let process = try Child(
                    Tools.command, arguments(each + more, input: "-"), name: "send", in: sender.scratch, input: .pipe)
                process.write(try String(contentsOfFile: input, encoding: .utf8))
                return process
            }

            /// The value of a sample in the file, such as `apns_batch_state{campaign="nightly"}`.
            func value(_ sample: String) throws -> Double? {
                let text = try String(contentsOfFile: file, encoding: .utf8)
                return text.split(separator: "\n").first { $0.hasPrefix(sample + " ") }
                    .flatMap { Double($0.dropFirst(sample.count + 1)) }
            }

            func last(_ name: String) throws -> Double? { try value("apns_batch_last_\(name){campaign=\"nightly\"}") }
        }

        private func check(_ text: String, _ scratch: Scratch, sourceLocation: SourceLocation = #_sourceLocation) throws
        {
            let file = try scratch.write(text, to: "checked.prom")
            let finished = try Child.run(
                "promtool", ["check", "metrics"], name: "promtool", in: scratch, input: .file(URL(filePath: file)))
            #expect(
                finished.ending == .exited(0) && finished.errors.isEmpty, "\(finished)", sourceLocation: sourceLocation)
        }

        /// Asks for a path of the endpoint, and returns status, type and body of the answer.
        private func get(
            _ url: String, _ more: String..., in scratch: Scratch
        ) throws -> (status: String, type: String, body: String) {
            let answer = try prepare(
                "curl", ["-sS", "-w", "\n%{http_code}\n%{content_type}"] + more + [url], in: scratch)
            let lines = answer.split(separator: "\n", omittingEmptySubsequences: false)
            return (String(lines[lines.count - 2]), String(lines.last!), lines.dropLast(2).joined(separator: "\n"))
        }

        @Test func `file and endpoint have the metrics of a run in forms that Prometheus reads`() throws {
            let stage = try Stage(rows: 4_000)
            let process = try stage.start("--metrics-listen", "0")
            let scratch = stage.sender.scratch
            #expect(
                eventually(seconds: 60) { process.isOver || ((try? stage.value(Self.accepted)) ?? nil) ?? 0 > 0 })
            try #require(!process.isOver, "\(process.errors)")
            // What has been read once does not change: the file is replaced, and never written again.
            let early = try #require(FileHandle(forReadingAtPath: stage.file))
            let first = try early.readToEnd()

            let url = try #require(
                process.errors.firstMatch(of: #/metrics: (http://127\.0\.0\.1:\d+)/metrics\n/#)?.output.1)
            let plain = try get("\(url)/metrics", in: scratch)
            #expect(plain.status == "200" && plain.type == "text/plain; version=0.0.4; charset=utf-8")
            try check(plain.body, scratch)
            #expect(plain.body.contains("apns_batch_state{campaign=\"nightly\",apns_batch_state=\"sending\"} 1\n"))
            let open = try get(
                "\(url)/metrics", "-H", "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5",
                in: scratch)
            #expect(open.type == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            let read =
                "import sys; from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse\n"
                + "print(*(f.name + ':' + f.type for f in parse(sys.stdin.read())))"
            let text = try scratch.write(open.body, to: "open.txt")
            let parsed = try Child.run(
                Tools.python, ["-c", read], name: "parse", in: scratch, input: .file(URL(filePath: text)))
            #expect(parsed.ending == .exited(0) && parsed.output.contains("apns_batch_rows:counter"), "\(parsed)")

            let progress = try get("\(url)/progress", in: scratch)
            let document = try JSONSerialization.jsonObject(with: Data(progress.body.utf8)) as? [String: Any]
            #expect(document?["campaign"] as? String == "nightly" && document?["rows"] as? Int ?? 0 > 0)
            #expect(try get("\(url)/healthz", in: scratch).status == "200")
            #expect(try get("\(url)/metrics", "-X", "DELETE", in: scratch).status == "405")
            #expect(try get("\(url)/", in: scratch).status == "404")

            process.closeInput()
            #expect(process.wait(seconds: 120) == .exited(0), "\(process.errors)")
            try early.seek(toOffset: 0)
            #expect(try early.readToEnd() == first)
            let last = try String(contentsOfFile: stage.file, encoding: .utf8)
            try check(last, scratch)
            #expect(try stage.value(Self.accepted) == 4_000)
            #expect(try stage.value("apns_batch_state{campaign=\"nightly\",apns_batch_state=\"idle\"}") == 1)
            #expect(try stage.value("apns_batch_response_duration_seconds_count{campaign=\"nightly\"}") == 4_000)
            #expect(try stage.last("exit_code") == 0 && stage.last("run_duration_seconds") ?? 0 > 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: stage.directory) == ["apns_batch_nightly.prom"])
            for secret in ["BEGIN", "bearer", "eyJ"] { #expect(!(last + open.body + progress.body).contains(secret)) }
        }

        private static let accepted = "apns_batch_rows_total{campaign=\"nightly\",outcome=\"accepted\"}"

        /// Clients that connect and say nothing, or never end what they say, or do not take their answer.
        @Test func `clients that ask nothing keep nobody from asking, and do not delay the end`() throws {
            let stage = try Stage(rows: 200)
            let process = try stage.start("--metrics-listen", "0")
            try #require(
                eventually(seconds: 60) { process.isOver || ((try? stage.value(Self.accepted)) ?? nil) ?? 0 > 0 })
            let url = try #require(
                process.errors.firstMatch(of: #/metrics: (http://127\.0\.0\.1:\d+)/metrics\n/#)?.output.1)
            let script = """
                import socket, sys, time
                def connect(): return socket.create_connection(("127.0.0.1", int(sys.argv[1])))
                def ask():
                    begin = time.monotonic()
                    client = connect()
                    client.settimeout(30)
                    client.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
                    answer = b""
                    while piece := client.recv(4096):
                        answer += piece
                    return answer.split(b"\\r\\n")[0].decode(), time.monotonic() - begin
                idle = [connect() for _ in range(50)]
                for client in idle[:20]:
                    client.sendall(b"GET /metrics HTTP/1.1\\r\\n")
                print(*ask())
                # More than it serves at once.
                idle += [connect() for _ in range(100)]
                for client in idle[-20:]:
                    client.sendall(b"GET /metrics HTTP/1.1\\r\\n\\r\\n")
                print(*ask())
                sys.stdin.read()
                """
            let port = try #require(url.split(separator: ":").last)
            let clients = try Child(
                Tools.python, ["-c", script, String(port)], name: "clients", in: stage.sender.scratch, input: .pipe)
            #expect(eventually(seconds: 60) { clients.isOver || clients.output.count { $0 == "\n" } == 2 })
            for line in clients.output.split(separator: "\n") {
                #expect(line.hasPrefix("HTTP/1.1 200 OK "), "\(clients.output) \(clients.errors)")
                // A server that waits for one client after the other would take 5 s for the first alone.
                #expect(line.split(separator: " ").last.flatMap { Double($0) } ?? 99 < 4, "\(line)")
            }
            #expect(clients.output.split(separator: "\n").count == 2, "\(clients.errors)")
            let begin = Date.now
            process.closeInput()
            #expect(process.wait(seconds: 120) == .exited(0), "\(process.errors)")
            #expect(Date.now.timeIntervalSince(begin) < 30)
            clients.closeInput()
            _ = clients.wait(seconds: 30)
        }

        @Test func `a night that fails keeps the last success, and others can read the file whatever the umask`() throws
        {
            let stage = try Stage(rows: 20)
            #expect(try stage.send("--metrics-textfile", stage.directory).ending == .exited(0))
            let success = try #require(try stage.last("success_timestamp_seconds"))
            #expect(abs(success - Date.now.timeIntervalSince1970) < 3600)
            #expect(try stage.last("completion_timestamp_seconds") == success)
            let command = (stage.arguments(["--metrics-textfile", stage.file, "--expect", "rows > 20"])).map {
                "'\($0)'"
            }
            let failed = try Child.run(
                "sh", ["-c", "umask 077; exec '\(Tools.command)' " + command.joined(separator: " ")], name: "send",
                in: stage.sender.scratch)
            #expect(failed.ending == .exited(64), "\(failed)")
            #expect(try stage.last("exit_code") == 64 && stage.last("success_timestamp_seconds") == success)
            #expect(try stage.last("completion_timestamp_seconds") ?? 0 > success)
            #expect(
                try stage.value("apns_batch_last_run_rows{campaign=\"nightly\",outcome=\"accepted\"}") == 20)
            let mode = try FileManager.default.attributesOfItem(atPath: stage.file)[.posixPermissions]
            #expect(mode as? Int == 0o644)
        }

        @Test func `a directory that disappears causes one warning, and the rows are sent`() throws {
            let stage = try Stage(rows: 20)
            let process = try stage.start()
            #expect(eventually(seconds: 60) { process.isOver || FileManager.default.fileExists(atPath: stage.file) })
            try FileManager.default.moveItem(atPath: stage.directory, toPath: stage.directory + "-gone")
            #expect(
                eventually(seconds: 60) { process.isOver || process.errors.contains("warning: metrics_textfile: ") })
            process.closeInput()
            #expect(process.wait(seconds: 120) == .exited(0), "\(process.errors)")
            #expect(
                process.errors.matches(of: #/warning: metrics_textfile: cannot create .*\.prom: No such file/#).count
                    == 1)
        }

        @Test func `what cannot be published is refused before anything is sent`() throws {
            let stage = try Stage(rows: 20)
            let foreign = try stage.sender.scratch.write("node_load1 0.5\n", to: "other.prom")
            let taken = ReservedPort()
            let cases: [(flag: String, value: String, says: String)] = [
                ("textfile", "/nowhere/a.prom", "cannot create /nowhere/a.prom: No such file or directory"),
                ("textfile", stage.directory + "/a.txt", "expected a directory, or a file whose name ends in .prom"),
                ("textfile", foreign, "the metrics of apns-batch"),
                ("listen", "example.com:9464", "expected a port, or a numeric ADDRESS:PORT"),
                ("listen", "192.0.2.1:0", "http://192.0.2.1:0: Cannot assign requested address"),
            ]
            for (flag, value, says) in cases {
                let finished = try stage.send("--metrics-\(flag)", value)
                #expect(finished.ending == .exited(64) && finished.output.isEmpty, "\(finished)")
                #expect(finished.errors.contains("apns-batch: --metrics-\(flag): ") && finished.errors.contains(says))
            }
            #expect(try String(contentsOfFile: foreign, encoding: .utf8) == "node_load1 0.5\n")
            let listener = try Child(
                Tools.python, ["-m", "http.server", "--bind", "127.0.0.1", "\(taken.number)"], name: "listener",
                in: stage.sender.scratch)
            #expect(eventually(seconds: 60) { listener.isOver || Ports.accepts(taken.number) })
            let second = try stage.send("--metrics-listen", "\(taken.number)")
            #expect(second.ending == .exited(75) && second.errors.contains(": Address already in use"), "\(second)")
            listener.stop()
        }

        // MARK: Examples

        @Test func `the alerts are valid, and fire when they should`() throws {
            let scratch = try Scratch()
            let root = Tools.root
            try prepare(
                "promtool", ["check", "rules", root.appending(path: "examples/prometheus/alerts.yml").path], in: scratch
            )
            let tests = ["alerts", "days"].map { Tools.fixture("prometheus/\($0).test.yml") }
            try prepare("promtool", ["test", "rules"] + tests, in: scratch)
        }

        @Test(arguments: [
            "examples/prometheus/alerts.yml", "examples/grafana/apns-batch.json", "docs/integrate/monitoring.md",
        ])
        func `every metric that is used exists`(path: String) throws {
            let stage = try Stage(rows: 1)
            #expect(try stage.send("--metrics-textfile", stage.directory).ending == .exited(0))
            let names = try String(contentsOfFile: stage.file, encoding: .utf8).matches(of: #/[a-z_]+/#).map(
                \.output)
            let text = try String(contentsOf: Tools.root.appending(path: path), encoding: .utf8)
            if path.hasSuffix(".json") { _ = try JSONSerialization.jsonObject(with: Data(text.utf8)) }
            // Names with a colon are those of recording rules.
            let used = text.matches(of: #/[a-z:]*apns_batch_[a-z_]+/#).map(\.output).filter { !$0.contains(":") }
            #expect(used.count > 10)
            for name in used { #expect(names.contains(name), "\(name)") }
        }
    }
}
