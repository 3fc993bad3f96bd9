import APNSBatchTestSupport
import Foundation
import Testing

extension EndToEndRuns {
    /// Tests of the endpoints that get the events of a campaign.
    @Suite struct Webhooks {
        private static let all = ", events: [started, completed, failed, stopped, paused, resumed]"

        @Test func `events are delivered, signed with each secret, and leave nothing behind`() throws {
            let stage = try WebhookStage(secrets: 2)
            let receiver = try stage.receiver()
            let finished = try stage.run(Self.all)
            #expect(finished.ending == .exited(0) && !finished.errors.contains("warning"), "\(finished)")
            #expect(try stage.types() == ["started", "completed"])
            let requests = try stage.requests()
            #expect(requests.allSatisfy { $0.verified == "1,2" && $0.contentType == "application/json" })
            #expect(requests.allSatisfy { $0.path == "/\(WebhookStage.urlPart)?key=1" && $0.id.hasPrefix("msg_") })
            #expect(Set(requests.map(\.id)).count == 2)
            let data = try #require(requests.last?.data)
            #expect(data["campaign"] as? String == "c" && data["run_directory"] as? String == stage.runDirectory)
            let machine = try String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8).dropLast()
            #expect(data["exit_code"] as? Int == 0 && data["host"] as? String == String(machine))
            #expect((data["verdict"] as? String)?.hasPrefix("OK: 20 of 20 rows accepted") == true)
            #expect((data["campaign_id"] as? String).flatMap { UUID(uuidString: $0) } != nil)
            let counts = try #require(data["counts"] as? [String: Any])
            #expect(counts["rows"] as? Int == 20 && (counts["outcomes"] as? [String: Int])?["accepted"] == 20)
            #expect(stage.outbox == nil)
            #expect(try stage.run(Self.all).ending == .exited(0))
            #expect(try stage.requests().count == 2, "a complete run was told again")
            receiver.stop()
        }

        @Test func `an endpoint gets the end unless it asks for something else`() throws {
            let stage = try WebhookStage()
            let receiver = try stage.receiver()
            #expect(try stage.run().ending == .exited(0))
            #expect(try stage.types() == ["completed"])
            receiver.stop()
        }

        @Test func `an attempt that is answered 500 is made again with the same id`() throws {
            let stage = try WebhookStage()
            let receiver = try stage.receiver("500")
            let finished = try stage.run()
            #expect(finished.ending == .exited(0) && !finished.errors.contains("warning"), "\(finished)")
            let requests = try stage.requests()
            #expect(requests.count == 2 && Set(requests.map(\.id)).count == 1)
            #expect(requests.allSatisfy { $0.verified == "1" } && Set(requests.map(\.text)).count == 1)
            #expect(stage.outbox == nil)
            receiver.stop()
        }

        @Test func `a redirect is not followed and is no delivery`() throws {
            let stage = try WebhookStage()
            let receiver = try stage.receiver("redirect,redirect")
            let finished = try stage.run()
            #expect(finished.ending == .exited(0) && finished.errors.contains("it answered 302"), "\(finished)")
            #expect(try stage.requests().allSatisfy { $0.path.hasPrefix("/\(WebhookStage.urlPart)") })
            #expect(stage.waiting.count == 1)
            receiver.stop()
        }

        @Test func `without a server the event waits, and notify delivers it with its id to the URL of then`() throws {
            let stage = try WebhookStage()
            let port = ReservedPort()
            try stage.name(port: port.number)
            let finished = try stage.run()
            #expect(finished.ending == .exited(0), "\(finished)")
            let warning =
                "warning: webhooks: 1 event was not delivered (\(stage.urlFile): its host cannot be connected to): "
                + "apns-batch notify \(stage.runDirectory)"
            #expect(finished.errors.contains(warning), "\(finished)")
            let text = try #require(stage.waiting.first)
            let secret = try stage.sender.scratch.read("webhook-secrets").dropLast()
            #expect(!text.contains(WebhookStage.urlPart) && !text.contains(secret), "the outbox holds a secret")
            let status = try stage.sender.command(["status", stage.runDirectory])
            #expect(status.output.contains("events of webhooks that were not delivered: 1\n"), "\(status)")
            let object = try stage.sender.command(["status", stage.runDirectory, "--json"])
            #expect(object.output.contains("\"webhooks_waiting\":1"), "\(object)")

            let refused = try stage.notify()
            #expect(refused.ending == .exited(2) && refused.output == "delivered=0 left=1 given_up=0\n", "\(refused)")
            let receiver = try stage.receiver()
            let notified = try stage.notify()
            #expect(notified.ending == .exited(0), "\(notified)")
            #expect(notified.output == "delivered=1 left=0 given_up=0\n")
            let request = try #require(try stage.requests().first)
            #expect(text.contains("\"id\":\"\(request.id)\"") && request.verified == "1")
            #expect(stage.outbox == nil)
            #expect(try stage.notify().ending == .exited(0))
            receiver.stop()
        }

        @Test func `an event of a process that was killed during the request is delivered with its id`() throws {
            let stage = try WebhookStage()
            let receiver = try stage.receiver("hang")
            let child = try Child(
                Tools.command, ["run", stage.campaign()], name: "run", in: stage.sender.scratch)
            #expect(eventually(seconds: 60) { (try? stage.requests().count) == 1 })
            child.send(signal: SIGKILL)
            #expect(child.wait(seconds: 60) == .killed(bySignal: SIGKILL))
            #expect(stage.waiting.count == 1)
            let finished = try stage.run()
            #expect(finished.ending == .exited(0) && finished.output.contains("already=complete"), "\(finished)")
            let requests = try stage.requests()
            #expect(try stage.types() == ["completed", "completed"])
            #expect(Set(requests.map(\.id)).count == 1 && stage.outbox == nil)
            receiver.stop()
        }

        @Test func `an event that is older than three days is given up with a warning`() throws {
            let stage = try WebhookStage()
            let receiver = try stage.receiver("429+3600")
            #expect(try stage.run().ending == .exited(0))
            let name = try #require(stage.outbox?.first { $0.hasSuffix(".json") })
            let text = try #require(stage.waiting.first).replacing(#/"time":\d+/#, with: "\"time\":0")
            try text.write(toFile: "\(stage.runDirectory)/outbox/\(name)", atomically: false, encoding: .utf8)
            let notified = try stage.notify()
            #expect(notified.ending == .exited(2), "\(notified)")
            #expect(notified.output == "delivered=0 left=0 given_up=1\n")
            let event = "the event \"completed\" of 1970-01-01T00:00:00Z for \(stage.urlFile)"
            #expect(notified.errors.contains("warning: webhooks: \(event) is older than three days"), "\(notified)")
            #expect(try stage.requests().count == 1 && stage.outbox == nil)
            receiver.stop()
        }

        @Test func `the end of a process that was killed before it could tell it is told by the next`() throws {
            let stage = try WebhookStage()
            let receiver = try stage.receiver()
            #expect(try stage.run(", events: [failed]").ending == .exited(0))
            #expect(try stage.requests().isEmpty && stage.outbox == nil)
            // What such a process leaves besides the complete run.
            try FileManager.default.createDirectory(
                atPath: stage.runDirectory + "/outbox", withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700])
            try "{}\n".write(toFile: stage.runDirectory + "/outbox/open", atomically: false, encoding: .utf8)
            for _ in 0..<2 { #expect(try stage.run().ending == .exited(0)) }
            #expect(try stage.types() == ["completed"])
            #expect(try stage.requests().first?.data["exit_code"] as? Int == 0 && stage.outbox == nil)
            receiver.stop()
        }

        @Test func `the run of the next night delivers what the last one has left`() throws {
            let stage = try WebhookStage()
            let port = ReservedPort()
            try stage.name(port: port.number)
            #expect(try stage.run().ending == .exited(0))
            #expect(stage.waiting.count == 1)
            let receiver = try stage.receiver()
            let next = stage.sender.scratch.path("next")
            #expect(try stage.run(flags: ["--run-dir", next]).ending == .exited(0))
            let nights = try Set(stage.requests().map { $0.data["run_directory"] as? String })
            #expect(nights == [stage.runDirectory, next] && stage.outbox == nil)
            receiver.stop()
        }

        @Test func `after 410 an endpoint gets nothing more of the run`() throws {
            let stage = try WebhookStage()
            let receiver = try stage.receiver("410")
            let finished = try stage.run(Self.all)
            #expect(finished.ending == .exited(0), "\(finished)")
            #expect(
                finished.errors.contains("warning: webhooks: \(stage.urlFile): it answered 410 (Gone)"), "\(finished)")
            #expect(try stage.types() == ["started"])
            #expect(stage.waiting.isEmpty)
            let notified = try stage.notify()
            #expect(notified.output == "delivered=0 left=0 given_up=0\n", "\(notified)")
            receiver.stop()
        }

        @Test func `an endpoint that asks for a pause gets it`() throws {
            let stage = try WebhookStage()
            let receiver = try stage.receiver("429+600")
            let finished = try stage.run()
            #expect(finished.ending == .exited(0) && finished.errors.contains("it answered 429"), "\(finished)")
            let notified = try stage.notify()
            #expect(notified.ending == .exited(2), "\(notified)")
            #expect(notified.errors.contains("not delivered: \(stage.urlFile): it asked for a pause"), "\(notified)")
            #expect(try stage.requests().count == 1 && stage.waiting.count == 1)
            receiver.stop()
        }

        @Test func `an endpoint that does not answer in time holds up the end only so long`() throws {
            let stage = try WebhookStage()
            let receiver = try stage.receiver("hang,hang")
            let finished = try stage.run(", timeout: 1")
            #expect(finished.ending == .exited(0), "\(finished)")
            #expect(finished.errors.contains("no answer within 1 s"), "\(finished)")
            #expect(try stage.requests().count == 2 && stage.waiting.count == 1)
            receiver.stop()
        }

        @Test func `a run that cannot begin has failed, and without a run directory there is no outbox`() throws {
            let stage = try WebhookStage()
            let receiver = try stage.receiver("200,404,404")
            let refused = try stage.run(lines: "expect: [\"rows >= 21\"]")
            #expect(refused.ending == .exited(64), "\(refused)")
            let data = try #require(try stage.requests().first?.data)
            #expect(try stage.types() == ["failed"])
            #expect(data["exit_code"] as? Int == 64 && (data["verdict"] as? String)?.hasPrefix("FAILED: ") == true)
            #expect(data["counts"] == nil && data["run_directory"] == nil)
            let lost = try stage.run(lines: "expect: [\"rows >= 21\"]")
            #expect(lost.ending == .exited(64), "\(lost)")
            #expect(
                lost.errors.contains("was not delivered and is lost, for it is in no outbox: it answered 404"),
                "\(lost)")
            receiver.stop()
        }

        @Test func `a run that is paused, continued and stopped tells so`() throws {
            let stage = try WebhookStage()
            let receiver = try stage.receiver()
            let child = try Child(
                Tools.command, ["run", stage.campaign(Self.all, lines: "rate: 1/s")], name: "run",
                in: stage.sender.scratch)
            #expect(eventually(seconds: 60) { (try? stage.types()) == ["started"] })
            func control(_ request: String) throws {
                let finished = try stage.sender.command(["control", stage.runDirectory, request])
                #expect(finished.ending == .exited(0), "\(finished)")
            }
            try control("pause")
            #expect(eventually(seconds: 60) { (try? stage.types()) == ["started", "paused"] })
            try control("continue")
            child.send(signal: SIGTERM)
            #expect(child.wait(seconds: 60) == .exited(75))
            #expect(try stage.types() == ["started", "paused", "resumed", "stopped"])
            #expect(child.errors.contains("warning") == false, "\(child.errors)")
            receiver.stop()
        }

        @Test(arguments: [
            ("http://example.com/5ec2e7f0-webhook", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "url_file"),
            ("https://localhost/5ec2e7f0-webhook", "whsec_MfKQ9r8GKYqrTwjU", "secret_file"),
        ])
        func `files that cannot be used are refused before the run, without being printed`(
            url: String, secret: String, setting: String
        ) throws {
            let stage = try WebhookStage()
            try stage.sender.scratch.write(url, to: "webhook-url")
            try stage.sender.scratch.write(secret, to: "webhook-secrets")
            let finished = try stage.run()
            #expect(finished.ending == .exited(64), "\(finished)")
            let file = setting == "url_file" ? "webhook-url" : "webhook-secrets"
            #expect(finished.errors.contains("c.yaml:6:11: webhooks: \(setting): \(stage.sender.scratch.path(file)): "))
            #expect(!finished.errors.contains("MfKQ9r8GKYqrTwjU"), "\(finished)")
        }

        @Test(arguments: [
            (", events: [complete]", "webhooks[0].events[0]: expected started, completed, failed"),
            (", retries: 3", "unknown key \"retries\""),
        ])
        func `settings that are wrong: exit code 64`(more: String, says: String) throws {
            let stage = try WebhookStage()
            try stage.name(port: 1)
            let finished = try stage.run(more)
            #expect(finished.ending == .exited(64) && finished.errors.contains(says), "\(finished)")
        }
    }
}
