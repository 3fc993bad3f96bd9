import APNSBatchTestSupport
import Foundation
import Testing

/// A server that a test started. It ends with this object.
final class Peer {
    let process: Child
    let port: UInt16

    private init(_ process: Child, port: UInt16) {
        self.process = process
        self.port = port
    }

    deinit { stop() }

    /// Ends the server. Closing its input ends a server run by `run-while-open`, and the Python server.
    func stop() {
        process.closeInput()
        if process.wait(seconds: 10) == .tookTooLong {
            Issue.record("a server did not end when its input closed: \(process.errors)")
        }
    }

    /// Starts nghttpd with an empty directory, so that it answers 404 without a reason for every path.
    static func nghttpd(_ sender: Sender) throws -> Peer {
        let empty = sender.scratch.file("empty")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        let port = ReservedPort()
        return try started(
            sender, port,
            [
                "nghttpd", "--address=127.0.0.1", "--htdocs=\(empty.path)", "--max-concurrent-streams=100",
                "\(port.number)", sender.credentials.key, sender.credentials.certificate,
            ])
    }

    /// Starts nginx, which answers 200 at once.
    ///
    /// - Parameter requests: the number of requests on a connection before GOAWAY.
    static func nginx(_ sender: Sender, streams: Int = 128, requests: Int = 1_000_000_000) throws -> Peer {
        let port = ReservedPort()
        let directory = sender.scratch.directory.path
        let values = [
            "DIR": directory, "PORT": "\(port.number)", "STREAMS": "\(streams)", "REQUESTS": "\(requests)",
            "MASTER": "off", "AFFINITY": "",
            "CERT": sender.credentials.certificate, "KEY": sender.credentials.key,
        ]
        var text = try String(contentsOfFile: Tools.peer("nginx.conf.template"), encoding: .utf8)
        for (name, value) in values { text = text.replacingOccurrences(of: "@\(name)@", with: value) }
        let configuration = try sender.scratch.write(text, to: "nginx.conf")
        return try started(
            sender, port, ["nginx", "-e", "\(directory)/nginx-error.log", "-p", directory, "-c", configuration])
    }

    /// Starts the Python server. `Recording` reads what it received.
    static func python(
        _ sender: Sender, streams: Int = 100, _ more: [String] = []
    ) throws -> (peer: Peer, recording: Recording) {
        let record = sender.scratch.path("record-\(sender.scratch.nextNumber()).jsonl")
        let process = try Child(
            Tools.python,
            [
                Tools.peer("h2_echo_server.py"), "--cert", sender.credentials.certificate, "--key",
                sender.credentials.key, "--record", record, "--max-streams", "\(streams)",
            ] + more, name: "h2-server", in: sender.scratch, input: .pipe)
        let port = try portPrinted(by: process)
        return (Peer(process, port: port), Recording(path: record))
    }

    /// Starts a server that writes down how its connections end; `goodbye_server.py` describes the flags. `Goodbyes` reads what it
    /// wrote.
    static func goodbye(_ sender: Sender, tls: String, _ more: [String] = []) throws -> (peer: Peer, ends: Goodbyes) {
        let record = sender.scratch.path("goodbyes-\(sender.scratch.nextNumber()).jsonl")
        let process = try Child(
            Tools.python,
            [
                Tools.peer("goodbye_server.py"), "--cert", sender.credentials.certificate, "--key",
                sender.credentials.key, "--record", record, "--tls", tls,
            ] + more, name: "goodbye", in: sender.scratch, input: .pipe)
        return (Peer(process, port: try portPrinted(by: process)), Goodbyes(path: record))
    }

    /// Starts a monitor of jobs, or a receiver of webhooks. It answers as `monitor.py` says of its flag `--answers`.
    ///
    /// - Parameter secrets: The file of the secrets with which it verifies webhooks.
    static func monitor(_ sender: Sender, record: String, answers: String, secrets: String? = nil) throws -> Peer {
        let process = try Child(
            Tools.python,
            [Tools.peer("monitor.py"), "--record", record, "--answers", answers]
                + (secrets.map { ["--secrets", $0] } ?? []),
            name: "monitor", in: sender.scratch, input: .pipe)
        return Peer(process, port: try portPrinted(by: process))
    }

    private static func started(_ sender: Sender, _ port: ReservedPort, _ command: [String]) throws -> Peer {
        let process = try Child(
            Tools.peer("run-while-open"), command, name: command[0], in: sender.scratch, input: .pipe)
        let peer = Peer(process, port: port.number)
        let ready = eventually(seconds: 30) { Ports.accepts(port.number) }
        try #require(ready, "\(command[0]) does not listen: \(process.errors)")
        return peer
    }

    /// Returns the port that the process prints in a line with "listening", after waiting for that line.
    static func portPrinted(by process: Child) throws -> UInt16 {
        var port: UInt16?
        _ = eventually(seconds: 30) {
            let text = process.output
            guard text.contains("\n"), let mark = text.range(of: "listening") else { return process.isOver }
            let line = text[mark.upperBound...].prefix { $0 != "\n" }
            port = line.split { !$0.isNumber }.last.flatMap { UInt16($0) }
            return port != nil
        }
        return try #require(port, "no port was printed: \(process.output)\(process.errors)")
    }
}

/// How the connections of a server have ended.
struct Goodbyes {
    let path: String

    struct End: Equatable {
        var requests: Int
        /// The error code of the client's GOAWAY; nil if there was none.
        var goaway: Int?
        /// `close_notify` or an error.
        var end: String

        var isOrderly: Bool { goaway == 0 && end == "close_notify" }
    }

    /// The ends so far.
    var all: [End] {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return [] }
        return data.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let entry = (try? JSONSerialization.jsonObject(with: Data(line))) as? [String: Any],
                let requests = entry["requests"] as? Int, let end = entry["end"] as? String
            else { return nil }
            return End(requests: requests, goaway: entry["goaway"] as? Int, end: end)
        }
    }
}

/// The recording of the Python server.
struct Recording {
    let path: String

    struct Request {
        let path: String
        /// The header fields in order of arrival, including pseudo-header fields.
        let headers: [(name: String, value: String)]
        let body: Data
        let connection: Int

        subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    private func entries() -> [[String: Any]] {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return [] }
        return data.split(separator: UInt8(ascii: "\n")).compactMap {
            (try? JSONSerialization.jsonObject(with: Data($0))) as? [String: Any]
        }
    }

    /// The number of bytes written so far.
    var size: Int {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue ?? 0
    }

    var connections: Int { entries().count { $0.count == 1 && $0["connection"] != nil } }

    /// The common names of the client certificates, by connection.
    var certificates: [String] { entries().compactMap { $0["certificate"] as? String } }

    var violations: [String] { entries().compactMap { $0["violation"] as? String } }

    var requests: [Request] {
        entries().compactMap { entry in
            guard let path = entry["path"] as? String, let fields = entry["headers"] as? [[String]],
                let body = (entry["body"] as? String).flatMap({ Data(base64Encoded: $0) }),
                let connection = entry["connection"] as? Int
            else { return nil }
            return Request(
                path: path, headers: fields.map { ($0[0], $0[1]) }, body: body, connection: connection)
        }
    }
}
