import Foundation
import Testing

/// A campaign of 20 rows with webhooks, and their receiver, which verifies the signatures with Python's hmac.
struct WebhookStage {
    let sender: Sender
    let record: String
    let secrets: String
    let urlFile: String
    let runDirectory: String

    /// The part of the URL that must never be printed.
    static let urlPart = "5ec2e7f0-webhook"

    /// - Parameter secrets: The number of secrets.
    init(secrets count: Int = 1) throws {
        sender = try Sender()
        record = sender.scratch.path("requests.jsonl")
        let lines = (0..<count).map { _ in
            "whsec_" + Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString() + "\n"
        }
        secrets = try sender.scratch.write(lines.joined(), to: "webhook-secrets")
        urlFile = sender.scratch.path("webhook-url")
        runDirectory = sender.scratch.path("night")
    }

    /// Starts a receiver, and names it in the file of the URL.
    func receiver(_ answers: String = "") throws -> Peer {
        let peer = try Peer.monitor(sender, record: record, answers: answers, secrets: secrets)
        try name(port: peer.port)
        return peer
    }

    func name(port: UInt16) throws {
        try sender.scratch.write("http://127.0.0.1:\(port)/\(Self.urlPart)?key=1\n", to: "webhook-url")
    }

    /// Writes the campaign file.
    ///
    /// - Parameter more: Further settings of the endpoint, such as `, events: [started]`.
    func campaign(_ more: String = "", lines: String = "") throws -> String {
        let input = try sender.makeRows(20, "--clean")
        return try sender.scratch.write(
            """
            input: \(input)
            template: \(Sender.template)
            expiration: 1h
            to: simulator
            run_dir: \(runDirectory)
            webhooks: [{ url_file: webhook-url, secret_file: webhook-secrets\(more) }]
            \(lines)

            """, to: "c.yaml")
    }

    func run(_ more: String = "", lines: String = "", flags: [String] = []) throws -> Finished {
        try sender.command(["run", campaign(more, lines: lines)] + flags)
    }

    func notify() throws -> Finished { try sender.command(["notify", runDirectory]) }

    struct Request {
        let path: String
        let id: String
        /// The numbers of the secrets that have signed it.
        let verified: String
        let contentType: String
        let text: String
        let body: [String: Any]

        var type: String { body["type"] as? String ?? "" }
        var data: [String: Any] { body["data"] as? [String: Any] ?? [:] }
    }

    /// The requests that have arrived.
    func requests() throws -> [Request] {
        let text = (try? String(contentsOfFile: record, encoding: .utf8)) ?? ""
        return try text.split(separator: "\n").map {
            let entry = try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
            let body = try #require(entry["body"])
            return Request(
                path: entry["path"] ?? "", id: entry["id"] ?? "", verified: entry["verified"] ?? "",
                contentType: entry["type"] ?? "", text: body,
                body: try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]))
        }
    }

    func types() throws -> [String] { try requests().map { String($0.type.dropFirst("apns_batch.campaign.".count)) } }

    /// The names of the files in the outbox; nil if there is none.
    var outbox: [String]? {
        (try? FileManager.default.contentsOfDirectory(atPath: runDirectory + "/outbox"))?.sorted()
    }

    /// The texts of the events that wait.
    var waiting: [String] {
        (outbox ?? []).filter { $0.hasSuffix(".json") && !$0.hasPrefix("gone") }.compactMap {
            try? String(contentsOfFile: "\(runDirectory)/outbox/\($0)", encoding: .utf8)
        }
    }
}
