import APNSBatch
import APNSBatchBasics
import APNSBatchReport
import ArgumentParser
import Foundation
import Glibc

struct ControlCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "control",
        abstract: "Changes a run while another process works on it.",
        discussion: """
            The process at work answers what it did. The change is in the ledger, in the
            summary and in status, and holds until the end of that process: a resumed run
            begins with its settings again.

            rate, ramp and spread replace one limit each; none removes it. pause sends
            nothing more until continue; stop ends the run in order, like SIGTERM.

            Of a run in parts, it reaches the parts that processes of this machine work on.
            A rate is divided by their number. What begins later does not know of it.

            Examples:
              apns-batch control runs/tonight rate 500/s
              apns-batch control runs/tonight ramp 10m
              apns-batch control runs/tonight pause
              apns-batch control runs/tonight continue

            Exit codes: 0 done; 64 the request is wrong, or the directory holds no run; 69
            nobody is working on the run.
            """)

    @Argument(help: "Run directory.", completion: .directory)
    var runDirectory: String

    @Argument(help: "What to change: \(ControlRequest.forms).", completion: .list(ControlRequest.words))
    var request: [String]

    func run() throws {
        let line = request.joined(separator: " ")
        let request = try reporting { try ControlRequest(line) }
        let parts = try reporting { try DistributedRun(ifIn: runDirectory) }
        if let parts {
            return try ask(parts, request, line)
        }
        let answer = try reporting { try Self.ask(line, runDirectory) }
        guard let answer else {
            let next = "if it is not complete, apns-batch resume \(runDirectory.shellQuoted) continues it"
            complain("\(runDirectory): no process is working on this run, or it does not answer; \(next)")
            throw ExitStatus.unavailable
        }
        guard answer.hasPrefix("ok: ") else {
            complain(answer)
            throw ExitStatus.usage
        }
        Output.line(String(answer.dropFirst(4)))
    }

    /// Sends the request to all parts at work on this machine.
    private func ask(_ run: DistributedRun, _ request: ControlRequest, _ line: String) throws {
        let reached = try reporting {
            try run.parts.filter { try $0.isBegun && Self.connected(to: $0.directory) { _, _ in true } ?? false }
        }
        if request == .stop, !reached.isEmpty { try reporting { try Self.stopAll(run) } }
        let line = try reporting { try request.share(of: reached.count) } ?? line
        var refused = 0
        var done = 0
        for part in reached {
            // A part that has ended meanwhile does not answer.
            let answer = try reporting { try Self.ask(line, part.directory) }
            guard let answer else { continue }
            let text = answer.hasPrefix("ok: ") ? String(answer.dropFirst(4)) : answer
            Output.line("part \(part.number): \(text)")
            if answer.hasPrefix("ok: ") { done += 1 } else { refused += 1 }
        }
        if refused > 0 { throw ExitStatus.usage }
        guard done == 0 else { return }
        complain("\(runDirectory): no process on this machine is working on a part of this run, or it does not answer")
        throw ExitStatus.unavailable
    }

    /// Tells the program that divided the rows, on whatever machine, to resume no part.
    private static func stopAll(_ run: DistributedRun) throws {
        let text = #"{"part": -1, "exit_code": 75, "cause": "control asked to stop"}"# + "\n"
        let path = run.directory + "/stop"
        // The first cause is kept.
        guard !FileManager.default.fileExists(atPath: path) else { return }
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8)) else {
            throw SystemError("\(path) cannot be written, so that its program may resume the parts")
        }
    }

    /// Sends the request to the process at work, and returns its answer; nil if there is none.
    private static func ask(_ line: String, _ runDirectory: String) throws -> String? {
        // Says so if the directory holds no run.
        _ = try RunOpening(of: runDirectory)
        return try connected(to: runDirectory) { socket, address in
            try refuseStrangers(ControlLine.user(of: socket), owner: address.owner, runDirectory)
            return ControlLine.write(line, to: socket) ? ControlLine.read(socket) : nil
        }
    }

    /// Calls `body` with a connection to the process at work; returns nil if there is none.
    private static func connected<T>(
        to runDirectory: String, _ body: (Int32, borrowing ControlAddress) throws -> T?
    ) throws -> T? {
        let address = try ControlAddress(runDirectory)
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw SystemError("cannot open a socket: \(String(cString: strerror(errno)))") }
        defer { close(socket) }
        ControlLine.limit(socket, seconds: 10)
        guard address.withAddress({ connect(socket, $0, $1) }) == 0 else { return nil }
        return try body(socket, address)
    }

    /// Throws unless the process that listens is one of this user, of root, or, for root, of the owner of the directory: another one could
    /// answer whatever it likes.
    private static func refuseStrangers(_ user: uid_t?, owner: uid_t?, _ runDirectory: String) throws {
        let trusted = [geteuid(), 0] + (geteuid() == 0 ? [owner].compactMap(\.self) : [])
        guard let user, trusted.contains(user) else {
            let name = user.map { "user \($0)" } ?? "an unknown user"
            throw UsageError(
                "\(runDirectory)/\(ControlAddress.name): the process that listens there is of \(name), and was not asked"
            )
        }
    }
}
