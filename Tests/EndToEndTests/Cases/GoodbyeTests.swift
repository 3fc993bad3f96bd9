import Foundation
import Testing

extension EndToEnd {
    /// The end of connections: a server gets GOAWAY with NO_ERROR and the close_notify of TLS, whatever ends a command.
    @Suite struct Goodbye {
        private static let plain = ["--template", Tools.fixture("campaign/plain.json"), "--expiration", "1h"]

        private func expectOrderly(_ ends: Goodbyes, requests: Int?, sourceLocation: SourceLocation = #_sourceLocation)
        {
            _ = eventually(seconds: 20) {
                let all = ends.all
                return !all.isEmpty && (requests == nil || all.reduce(0) { $0 + $1.requests } >= requests ?? 0)
            }
            // One that was being opened when the run ended may have had no TLS yet over which to say goodbye.
            let all = ends.all.filter { $0.requests > 0 }
            #expect(!all.isEmpty && all.allSatisfy(\.isOrderly), "\(all)", sourceLocation: sourceLocation)
            if let requests {
                #expect(all.reduce(0) { $0 + $1.requests } == requests, "\(all)", sourceLocation: sourceLocation)
            }
        }

        @Test(arguments: ["1.2", "1.3"], Tools.loops)
        func `a complete run`(tls: String, loop: String) throws {
            let sender = try Sender()
            let (peer, ends) = try Peer.goodbye(sender, tls: tls)
            let input = try sender.makeRows(500, "--plain")
            let (_, results) = try sender.send(
                input, to: peer.port, Self.plain + ["--loop", loop, "--lanes", "2", "--connections", "2"])
            results.expectComplete(rows: 500)
            expectOrderly(ends, requests: 500)
        }

        @Test func `a run whose server never closes a connection ends all the same`() throws {
            let sender = try Sender()
            let (peer, ends) = try Peer.goodbye(sender, tls: "1.3", ["--stays"])
            let input = try sender.makeRows(50, "--plain")
            let (_, results) = try sender.send(input, to: peer.port, Self.plain)
            results.expectComplete(rows: 50)
            expectOrderly(ends, requests: 50)
        }

        @Test(arguments: ["1.2", "1.3"])
        func `a run that is stopped keeps what is in flight as it is`(tls: String) throws {
            let sender = try Sender()
            let (peer, ends) = try Peer.goodbye(sender, tls: tls, ["--answers", "30"])
            let input = try sender.makeRows(60, "--plain")
            let directory = sender.newRunDirectory()
            let process = try sender.start(
                input, to: peer.port, runDirectory: directory, Self.plain + ["--request-timeout", "60000"])
            let isWaiting = eventually(seconds: 60) {
                process.isOver
                    || (try? String(contentsOfFile: directory + "/results.csv", encoding: .utf8))?
                        .split(separator: "\n").count == 31
            }
            try #require(isWaiting && !process.isOver, "\(process.errors)")
            process.send(signal: SIGTERM)
            // Signals within a second count as one.
            usleep(1_200_000)
            process.send(signal: SIGTERM)
            #expect(process.wait(seconds: 60) == .exited(75), "\(process.errors)")
            let results = try RunResults(directory)
            #expect(results.summary["accepted"] as? Int == 30 && results.summary["may_be_sent"] as? Int == 30)
            expectOrderly(ends, requests: 60)
        }

        @Test func `a doctor, and requests for channels`() throws {
            let sender = try Sender()
            let credentials = sender.credentials.flags
            for arguments in [
                ["doctor", "--production", "localhost:PORT", "--sandbox", "localhost:PORT"] + credentials,
                ["channels", "list", "--bundle-id", TestCredentials.topic, "--to", "localhost:PORT"]
                    + credentials.dropFirst(2),
            ] {
                let (peer, ends) = try Peer.goodbye(sender, tls: "1.3")
                let finished = try sender.command(arguments.map { $0.replacing("PORT", with: "\(peer.port)") })
                _ = eventually(seconds: 20) { !ends.all.isEmpty }
                #expect(!ends.all.isEmpty && ends.all.allSatisfy(\.isOrderly), "\(ends.all) \(finished)")
            }
        }
    }
}
