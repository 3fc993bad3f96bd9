import Foundation
import Testing

extension EndToEnd {
    /// Tests that send the same rows, unchanged, to third-party servers.
    @Suite struct ForeignServers {
        static let rows = Tools.sanitizer == nil ? 5_000 : 1_500

        @Test(arguments: Tools.loops)
        func `nghttpd knows none of the paths: 404 to every row stops the run, and the rest is not sent`(
            loop: String
        ) throws {
            let sender = try Sender()
            let server = try Peer.nghttpd(sender)
            let input = try sender.makeRows(Self.rows)
            let (_, results) = try sender.send(
                input, to: server.port, ["--template", Sender.template, "--loop", loop], expecting: 69)
            #expect(results.lines.count >= 500)
            #expect(results.lines.allSatisfy { $0.outcome == "rejected" && $0.status == "404" && $0.reason == "" })
        }

        @Test(arguments: Tools.loops)
        func `nginx answers before it has read the body: every row is accepted`(loop: String) throws {
            let sender = try Sender()
            let server = try Peer.nginx(sender)
            let input = try sender.makeRows(Self.rows)
            let (_, results) = try sender.send(
                input, to: server.port, ["--template", Sender.template, "--loop", loop])
            results.expectComplete(rows: Self.rows)
            #expect(results.lines.allSatisfy { $0.outcome == "accepted" && $0.status == "200" && $0.attempts == 1 })
        }

        @Test(arguments: ["template", "raw"], Tools.loops)
        func `a Python server got, byte by byte, what render shows`(form: String, loop: String) throws {
            let sender = try Sender()
            let rows = 1_000
            let input = try sender.makeRows(rows, form == "raw" ? "--raw" : "--seed=1", "--headers")
            let more =
                ["--campaign-id", "0191c2f0-7a5b-8def-8123-0123456789ab"]
                + (form == "raw" ? [] : ["--template", Sender.template])
            let (server, recording) = try Peer.python(sender, streams: 20)
            let (_, results) = try sender.send(input, to: server.port, more + ["--loop", loop])
            server.stop()
            results.expectComplete(rows: rows)
            #expect(results.count("accepted") == rows)
            #expect(recording.violations == [])
            try Self.compare(recording.requests, with: sender.render(input, more), results)
        }

        private static func compare(
            _ requests: [Recording.Request], with rendered: [[String: Any]], _ results: RunResults
        ) throws {
            let byPath = Dictionary(grouping: requests, by: \.path)
            #expect(requests.count == rendered.count && byPath.count == rendered.count)
            for (row, line) in zip(rendered, results.lines) {
                let path = try #require(row["path"] as? String)
                let payload = try #require(row["payload"] as? String)
                var headers = try #require(row["headers"] as? [String: String])
                let request = try #require(byPath[path]?.first, "\(path)")
                #expect(request.body == Data(payload.utf8), "\(path)")

                var got = Dictionary(request.headers.map { ($0.name, $0.value) }) { "\($0), \($1)" }
                let bearer = try #require(got["authorization"])
                #expect(bearer.hasPrefix("bearer "))
                #expect(bearer.split(separator: ".").count == 3)
                for name in ["authorization", ":path", ":authority"] {
                    headers[name] = nil
                    got[name] = nil
                }
                #expect(got == headers, "\(path)")
                #expect(got["apns-id"] == line.messageID)
                #expect(request[":path"] == "/3/device/\(line.token)")
            }
        }

        @Test func `the header fields follow the rules of APNs`() throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender)
            let input = try sender.makeRows(200)
            try sender.send(input, to: server.port, ["--template", Sender.template])
            server.stop()
            for request in recording.requests {
                #expect(request[":method"] == "POST")
                #expect(request[":scheme"] == "https")
                #expect(request["apns-topic"] == TestCredentials.topic)
                #expect(request["apns-push-type"] == "alert")
                #expect(request["apns-id"]?.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
                let names = request.headers.map(\.name)
                #expect(Set(names).count == names.count)
                let ordinary = names.drop { $0.hasPrefix(":") }
                #expect(!ordinary.contains { $0.hasPrefix(":") }, "pseudo-header fields come first")
            }
            #expect(Set(recording.requests.compactMap { $0["apns-id"] }).count == 200)
        }

        @Test(arguments: [7, 11])
        func `a server that names no limit and resets what is too much gets less, and hardly a row is lost`(
            code: Int
        ) throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender, streams: 0, ["--calm", "20:\(code)"])
            let input = try sender.makeRows(3_000)
            let (finished, results) = try sender.send(
                input, to: server.port, ["--template", Sender.template, "--on-unknown", "report", "--lanes", "1"],
                expecting: code == 7 ? 0 : 2)
            server.stop()
            #expect(recording.violations == [])
            let unknown = results.count("unknown")
            #expect(results.count("accepted") + unknown == 3_000, "\(finished)")
            // REFUSED_STREAM means that the request was not processed.
            #expect(code == 7 ? unknown == 0 : unknown < 300, "\(unknown) rows are unknown")
        }

        @Test(.enabled(if: Tools.sanitizer == nil))
        func `nginx that takes 100 requests of a connection gets every row once`() throws {
            let sender = try Sender()
            let server = try Peer.nginx(sender, requests: 100)
            let input = try sender.makeRows(20_000)
            let (_, results) = try sender.send(
                input, to: server.port, ["--template", Sender.template, "--lanes", "1"])
            results.expectComplete(rows: 20_000)
            #expect(results.lines.allSatisfy { $0.outcome == "accepted" && $0.attempts == 1 })
        }

        @Test func `a server that allows one stream at a time gets the rows one at a time`() throws {
            let sender = try Sender()
            let (server, recording) = try Peer.python(sender, streams: 1)
            let input = try sender.makeRows(150)
            let (_, results) = try sender.send(
                input, to: server.port, ["--template", Sender.template, "--connections", "1"])
            server.stop()
            results.expectComplete(rows: 150)
            #expect(recording.violations == [])
            #expect(recording.requests.count == 150)
        }
    }
}
