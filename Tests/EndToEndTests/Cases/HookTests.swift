import APNSBatchTestSupport
import Foundation
import Testing

extension EndToEnd {
    /// Tests of the monitor and the program that are told of a run.
    @Suite struct Hooks {
        /// A monitor, and a campaign that tells it. The URL is a secret that must never be printed.
        private struct Monitored {
            let sender: Sender
            let monitor: Peer
            let record: String
            let urlFile: String
            let input: String
            static let secret = "5ec2e7f0-monitor"

            init(answers: String = "") throws {
                sender = try Sender()
                record = sender.scratch.path("requests.jsonl")
                monitor = try .monitor(sender, record: record, answers: answers)
                urlFile = try sender.scratch.write("http://127.0.0.1:\(monitor.port)/\(Self.secret)\n", to: "ping-url")
                input = try sender.makeRows(20, "--clean")
            }

            func send(_ more: String...) throws -> Finished {
                let finished = try sender.command(
                    [
                        "send", "--input", input, "--template", Sender.template, "--to", "simulator", "--expiration",
                        "1h",
                        "--run-dir", sender.newRunDirectory(), "--ping-url-file", urlFile,
                    ] + more)
                #expect(!"\(finished)".contains(Self.secret), "the URL was printed: \(finished)")
                return finished
            }

            /// The requests in order, as `POST /start`.
            func requests() throws -> [String] { try entries().map { "\($0["method"]!) \($0["path"]!)" } }

            func entries() throws -> [[String: String]] {
                let text = (try? String(contentsOfFile: record, encoding: .utf8)) ?? ""
                return try text.split(separator: "\n").map {
                    let entry = try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
                    return entry.mapValues { $0.replacing("/\(Self.secret)", with: "") }
                }
            }
        }

        @Test func `the monitor is told of start and end, with the verdict`() throws {
            let stage = try Monitored()
            let finished = try stage.send()
            #expect(finished.ending == .exited(0) && finished.errors.isEmpty, "\(finished)")
            #expect(try stage.requests() == ["POST /start", "POST /0"])
            let end = try #require(try stage.entries().last)
            #expect(end["body"] == finished.outputLines.suffix(2).joined(separator: "\n") + "\n")
            #expect(end["type"] == "text/plain; charset=utf-8")
        }

        @Test func `a run that does not begin is told, with the cause`() throws {
            let stage = try Monitored()
            let finished = try stage.send("--expect", "rows >= 21")
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(try stage.requests() == ["POST /start", "POST /64"])
            let body = try stage.entries().last?["body"] ?? ""
            #expect(body.hasPrefix("FAILED: --expect: ") && body.contains("found 20; nothing was sent"), "\(body)")
        }

        @Test func `a request that is answered 500 is made again, up to three times`() throws {
            let stage = try Monitored(answers: "200,500,500,200")
            let finished = try stage.send()
            #expect(finished.ending == .exited(0) && finished.errors.isEmpty, "\(finished)")
            #expect(try stage.requests() == ["POST /start", "POST /0", "POST /0", "POST /0"])
            let broken = try Monitored(answers: "200,500,503,500")
            let warned = try broken.send()
            #expect(warned.ending == .exited(0), "\(warned)")
            #expect(warned.errors.contains("warning: ping_url_file: the monitor was not told \"0\": it answered 500"))
            #expect(try broken.requests() == ["POST /start", "POST /0", "POST /0", "POST /0"])
        }

        @Test func `run tells as send does, and is silent about a run that was complete before`() throws {
            let stage = try Monitored()
            let file = try stage.sender.scratch.write(
                """
                input: \(stage.input)
                template: \(Sender.template)
                expiration: 1h
                to: simulator
                run_dir: night
                ping_url_file: ping-url

                """, to: "c.yaml")
            let short = try stage.sender.command(["run", file, "--expect", "rows > 20"])
            #expect(short.ending == .exited(64), "\(short)")
            #expect(try stage.requests() == ["POST /start", "POST /64"])
            #expect(try stage.sender.command(["run", file]).ending == .exited(0))
            #expect(try stage.sender.command(["run", file]).ending == .exited(0))
            #expect(try stage.requests() == ["POST /start", "POST /64", "POST /start", "POST /0"])
        }

        @Test(arguments: [("redirect", "302"), ("404", "404")])
        func `a redirect is not followed, and a refusal is final: a warning`(answer: String, status: String) throws {
            let stage = try Monitored(answers: "200,\(answer)")
            let finished = try stage.send()
            #expect(finished.ending == .exited(0), "\(finished)")
            #expect(
                finished.errors.contains(
                    "warning: ping_url_file: the monitor was not told \"0\": it answered \(status)"),
                "\(finished)")
            #expect(try stage.requests() == ["POST /start", "POST /0"])
        }

        @Test(arguments: ["hang", "drip"])
        func `a monitor that does not answer in time: a warning, and the rows are sent`(answer: String) throws {
            let stage = try Monitored(answers: Array(repeating: answer, count: 6).joined(separator: ","))
            let finished = try stage.send("--ping-timeout", "1")
            #expect(finished.ending == .exited(0), "\(finished)")
            #expect(
                finished.errors.contains(
                    "warning: ping_url_file: the monitor was not told \"0\": no answer within 1 s"), "\(finished)"
            )
            #expect(finished.outputLines.last?.hasPrefix("rows=20 accepted=20 ") == true)
            #expect(try stage.requests().suffix(3) == ["POST /0", "POST /0", "POST /0"])
        }

        @Test func `a monitor that nobody runs: a warning`() throws {
            let stage = try Monitored()
            let port = ReservedPort()
            try stage.sender.scratch.write("http://localhost:\(port.number)/\(Monitored.secret)", to: "ping-url")
            let finished = try stage.send()
            #expect(finished.ending == .exited(0), "\(finished)")
            #expect(finished.errors.contains("not told \"0\": its host cannot be connected to"), "\(finished)")
        }

        @Test(arguments: [
            "http://example.com/5ec2e7f0-monitor", "5ec2e7f0-monitor", "", "ftp://127.0.0.1/5ec2e7f0-monitor",
        ])
        func `a URL that is not https, or not to loopback, is refused without being printed`(url: String) throws {
            let stage = try Monitored()
            try stage.sender.scratch.write(url, to: "ping-url")
            let finished = try stage.send()
            #expect(finished.ending == .exited(64), "\(finished)")
            #expect(finished.errors.contains("--ping-url-file: \(stage.urlFile): expected an https URL"), "\(finished)")
        }

        /// Sends 20 rows with a campaign file that has these settings.
        private func send(_ settings: String, environment: [String: String] = [:]) throws -> (
            Finished, runDirectory: String
        ) {
            let sender = try Sender()
            let input = try sender.makeRows(20, "--clean")
            let directory = sender.newRunDirectory()
            let file = try sender.scratch.write(
                "input: \(input)\ntemplate: \(Sender.template)\nto: simulator\nexpiration: 1h\n\(settings)\n",
                to: "c.yaml")
            let finished = try Child.run(
                Tools.command, ["send", file, "--run-dir", directory], name: "send", in: sender.scratch,
                environment: environment)
            return (finished, directory)
        }

        @Test func `the program is told the end by its environment, has no input, and prints on standard error`() throws
        {
            let script = "cat; echo said; echo \\\"$1|$EXIT|$VERDICT|$RUN_DIR|$PASS\\\" > $OUT"
            let place = try Scratch()
            let (finished, directory) = try send(
                "on_complete: [/bin/sh, -c, \"\(script)\", name, \"a $b; c\"]\nkey_passphrase_env: PASS",
                environment: ["OUT": place.path("out"), "PASS": "hidden"])
            #expect(finished.ending == .exited(0), "\(finished)")
            #expect(finished.errors.contains("said") && !finished.output.contains("said"), "\(finished)")
            let told = try place.read("out")
            #expect(told.hasPrefix("a $b; c|0|OK: 20 of 20 rows accepted, in "), "\(told)")
            #expect(told.hasSuffix("|\(directory)|\n"), "\(told)")
        }

        @Test(arguments: [
            ("[\"false\"]", "false: ended with exit code 1"),
            ("[./nothing]", "/nothing: cannot be started: No such file"),
            ("[/bin/sh, -c, 'kill -9 $$']", "/bin/sh: was ended by signal 9"),
        ])
        func `a program that fails: a warning`(program: String, says: String) throws {
            let (finished, _) = try send("on_complete: \(program)")
            #expect(finished.ending == .exited(0) && finished.errors.contains(says), "\(finished)")
            #expect(finished.errors.contains("warning: on_complete: "))
        }

        @Test func `a program that does not end is killed with what it started`() throws {
            let pipe = try Scratch()
            let fifo = pipe.path("fifo")
            try #require(mkfifo(fifo, 0o600) == 0)
            // The background process holds the FIFO open as long as it lives. It must have been started before the program is
            // killed, or the reader waits for it for ever.
            let reader = try Child("cat", [fifo], name: "reader", in: pipe)
            let (finished, _) = try send(
                "on_complete: [/bin/sh, -c, \"sleep 100000 > \(fifo) & wait\"]\non_complete_patience: 5")
            #expect(finished.ending == .exited(0), "\(finished)")
            #expect(
                finished.errors.contains("warning: on_complete: /bin/sh: was killed after 5 s"), "\(finished)")
            #expect(reader.wait(seconds: 120) == .exited(0))
        }
    }
}
