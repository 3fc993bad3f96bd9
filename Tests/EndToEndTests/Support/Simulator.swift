import Foundation
import Testing

/// The simulator in a separate process.
final class SimulatorProcess {
    private let process: Child
    private let countsPath: String
    /// The path of the file that has the times of requests after `stop`, if the simulator is timed.
    let arrivals: String
    let port: UInt16

    /// - Parameters:
    ///   - script: the script in YAML; nil accepts everything.
    ///   - isTimed: whether it writes down when requests arrive.
    init(_ sender: Sender, script: Script? = nil, loop: String? = nil, isTimed: Bool = false) throws {
        arrivals = sender.scratch.path("arrivals-\(sender.scratch.nextNumber()).csv")
        countsPath = sender.scratch.path("counts-\(sender.scratch.nextNumber()).csv")
        var arguments = [
            "simulate", "--port", "0", "--cert", sender.credentials.certificate, "--key", sender.credentials.key,
            "--provider-key", sender.credentials.providerPublicKey, "--key-id", TestCredentials.keyID,
            "--team-id", TestCredentials.teamID, "--counts", countsPath,
        ]
        if let script { arguments += ["--script", try sender.scratch.write(script.yaml, to: "faults.yaml")] }
        if isTimed { arguments += ["--arrivals", arrivals] }
        if let loop { arguments += ["--loop", loop] }
        process = try Child(Tools.command, arguments, name: "simulate", in: sender.scratch)
        port = try Peer.portPrinted(by: process)
    }

    deinit { process.stop() }

    var processID: pid_t { process.id }

    /// Ends the simulator, and returns how often it received and accepted each token.
    func stop() throws -> [String: Count] {
        let ending = process.stop()
        try #require(ending == .exited(0), "\(ending): \(process.errors)")
        let lines = try String(contentsOfFile: countsPath, encoding: .utf8).split(separator: "\n")
        try #require(lines.first == "token,received,accepted")
        return Dictionary(
            uniqueKeysWithValues: try lines.dropFirst().map { line in
                let fields = line.split(separator: ",")
                let received = try #require(Int(fields[1]))
                return (String(fields[0]), Count(received: received, accepted: try #require(Int(fields[2]))))
            })
    }

    /// The report that the simulator prints at its end. It is available after `stop`.
    var report: Report { Report(lines: process.output.split(separator: "\n").map(String.init)) }

    struct Report {
        let lines: [String]

        /// Returns the number after a name, as in `connections=3`.
        func number(_ name: String) -> Int? {
            lines.flatMap { $0.split(separator: " ") }.first { $0.hasPrefix("\(name)=") }
                .flatMap { Int($0.dropFirst(name.count + 1)) }
        }

        /// Returns how often each fault occurred, in the order of the script.
        func happened(_ fault: String) -> [Int] {
            lines.filter { $0.hasPrefix("fault \(fault): ") }.compactMap { Int($0.split(separator: " ").last ?? "") }
        }

        /// The line about connections on which the sender broke a rule of HTTP/2, if any.
        var violations: [String] { lines.filter { $0.hasPrefix("connections that broke") } }
    }

    struct Count: Equatable {
        let received: Int
        let accepted: Int
    }
}

/// A script for the simulator, and a second implementation of its documented answers.
struct Script {
    struct Rule {
        var share: Double
        var status: Int
        var reason: String
        var timestamp: Int?
        /// The number of requests of a token that get this answer; nil for all.
        var times: Int?
        /// The value of `retry-after`, in seconds.
        var retryAfter: Int?
    }

    var seed: UInt64
    var rules: [Rule]
    var latency = "{ distribution: none }"
    /// The rate limit in YAML.
    var rateLimit: String?
    /// The entries of `faults` in YAML.
    var faults: [String] = []

    var yaml: String {
        let rules = rules.map { rule in
            "  - { share: \(rule.share), status: \(rule.status), reason: \(rule.reason)"
                + (rule.timestamp.map { ", timestamp: \($0)" } ?? "") + (rule.times.map { ", times: \($0)" } ?? "")
                + (rule.retryAfter.map { ", retry_after: \($0)" } ?? "") + " }\n"
        }
        let list = rules.isEmpty ? "rules: []\n" : "rules:\n" + rules.joined()
        return "seed: \(seed)\nlatency: \(latency)\n" + list + (rateLimit.map { "rate_limit: \($0)\n" } ?? "")
            + "faults: [\(faults.joined(separator: ", "))]\n"
    }

    /// Returns the rule that applies to a token, if any. FNV-1a over the seed's bytes, least significant first, and the
    /// token's digits is mixed. Its upper 53 bits are a number in [0, 1), of which each rule takes a slice, one after
    /// the other.
    func rule(for token: String) -> Rule? {
        let seedBytes = withUnsafeBytes(of: seed.littleEndian, Array.init)
        let hash = (seedBytes + Array(token.utf8)).reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
        let spread = (hash ^ (hash >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        let place = Double(spread >> 11) / 9_007_199_254_740_992
        var bound = 0.0
        for rule in rules {
            bound += rule.share
            if place < bound { return rule }
        }
        return nil
    }
}
