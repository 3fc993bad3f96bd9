import APNSBatch
import ArgumentParser
import Foundation

/// Sends rows as a program that embeds the library does, for scripts/bench, which measures the process. It uses public API only.
@main struct LibraryBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "apns-batch-library-benchmarks")

    /// Where the rows come from.
    enum Source: String, ExpressibleByArgument {
        /// A CSV file.
        case file
        /// An asynchronous sequence of values.
        case values
        /// A closure that writes them.
        case writer
        /// Tasks that each await the result of one notification after the other.
        case sends
        /// A sequence whose results are taken as they come.
        case sequence
        /// Nothing, after some notifications.
        case idle
    }

    @Argument var source: Source
    @Option var rows: Int
    @Option var input: String?
    @Option var template: String
    @Option var to: String
    @Option var runDir: String?
    @Option var topic: String
    @Option var keyFile: String
    @Option var keyId: String
    @Option var teamId: String
    @Option var caFile: String
    @Option var lanes: Int
    @Option(help: "The event loop: automatic, io_uring or epoll.") var loop = "automatic"
    @Option(help: "The number of tasks that send, or of items under way.") var concurrent = 1000
    @Option(help: "The time for which an idle sender is observed, in seconds.") var seconds = 35
    @Option(help: "What happens to rows that may have been sent before: resend or report.") var onUnknown = "report"
    @Flag(help: "Keep the rows in the run directory, and resume the run there if it has begun.") var resumable = false
    @Flag(help: "Take the results while the run goes on.") var results = false

    func run() async throws {
        switch source {
        case .file, .values, .writer: try await runCampaign()
        case .sends: try await runSender { try await sendOneByOne($0) }
        case .sequence: try await runSender { try await sendSequence($0) }
        case .idle: try await runSender { try await stayIdle($0) }
        }
    }

    private func runCampaign() async throws {
        let run = try makeRun(try campaign())
        let results = results ? run.makeResults() : nil
        async let summary = run.send()
        var taken = 0
        if let results { for await batch in results { taken += batch.count { $0.outcome == .accepted } } }
        let end = try await summary
        let accepted = end.accepted
        if resumable {
            guard end.ending == .complete else { throw ValidationError("\(end.cause ?? "")") }
            return
        }
        guard accepted == UInt64(rows), results == nil || taken == rows else {
            throw ValidationError("\(accepted) of \(rows) rows were accepted, \(taken) results were taken")
        }
    }

    func campaign() throws -> Campaign {
        func read(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }
        let server = to.split(separator: ":")
        guard server.count == 2, let port = UInt16(server[1]) else { throw ValidationError("--to: expected HOST:PORT") }
        var campaign = Campaign(
            destination: .host(String(server[0]), port: port), topic: topic,
            credentials: .providerToken(keyPEM: try read(keyFile), keyID: keyId, teamID: teamId))
        campaign.template = .init(json: try read(template), name: template)
        campaign.authorities = try read(caFile)
        campaign.runDirectory = runDir
        campaign.lanes = lanes
        guard let loop = Campaign.Loop(rawValue: loop) else {
            throw ValidationError("--loop: no event loop is called \(loop)")
        }
        campaign.loop = loop
        campaign.onUnknown = onUnknown == "resend" ? .resend : .report
        return campaign
    }

    private var spool: CampaignRun.Spool { resumable ? .runDirectory : .none }

    private func makeRun(_ campaign: Campaign) throws -> CampaignRun {
        switch source {
        case .file: try CampaignRun(campaign, input: .file(input ?? ""))
        case .values:
            try CampaignRun(campaign, rows: Users(count: rows), spool: spool, resuming: .ifStarted)
        case .writer:
            try CampaignRun(campaign, columns: User.columns, spool: spool, resuming: .ifStarted) { [rows] writer in
                for number in 0..<rows { try await writer.write { User(number).encode(into: &$0) } }
            }
        case .sends, .sequence, .idle: preconditionFailure("not a campaign")
        }
    }
}

/// A row like those of the file: a token of 64 digits and a name.
struct User: CampaignRow, Sendable {
    let token: String
    let name: String

    static let columns = ["token", "name"]

    init(_ number: Int) {
        token = Self.digits(number, count: 64)
        name = "name-" + Self.digits(number, count: 5)
    }

    func encode(into row: inout RowEncoder) {
        row.append(token)
        row.append(name)
    }

    private static func digits(_ number: Int, count: Int) -> String {
        String(unsafeUninitializedCapacity: count) { out in
            out.initialize(repeating: UInt8(ascii: "0"))
            var (rest, place) = (number, count)
            while rest > 0, place > 0 {
                place -= 1
                out[place] += UInt8(rest % 10)
                rest /= 10
            }
            return count
        }
    }
}

/// A sequence whose elements are there at once, like the rows of a page that a database has sent.
struct Users: AsyncSequence, Sendable {
    typealias Element = User
    let count: Int

    struct AsyncIterator: AsyncIteratorProtocol {
        var next = 0
        let count: Int

        mutating func next() async -> User? {
            guard next < count else { return nil }
            defer { next += 1 }
            return User(next)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(count: count) }
}
