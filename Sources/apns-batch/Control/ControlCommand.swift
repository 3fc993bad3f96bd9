import APNSBatch
import APNSBatchBasics
import ArgumentParser
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
        _ = try reporting { try ControlRequest(line) }
        let answer = try reporting { try ask(line) }
        guard let answer else {
            let next = "if it is not complete, apns-batch resume \(runDirectory.shellQuoted) continues it"
            complain("\(runDirectory): nobody is working on this run, or it does not answer; \(next)")
            throw ExitStatus.unavailable
        }
        guard answer.hasPrefix("ok: ") else {
            complain(answer)
            throw ExitStatus.usage
        }
        Output.line(String(answer.dropFirst(4)))
    }

    /// Sends the request to the process at work, and returns its answer; nil if there is none.
    private func ask(_ line: String) throws -> String? {
        // Says so if the directory holds no run.
        _ = try RunOpening(of: runDirectory)
        let address = try ControlAddress(runDirectory)
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw SystemError("cannot open a socket: \(String(cString: strerror(errno)))") }
        defer { close(socket) }
        ControlLine.limit(socket, seconds: 10)
        guard address.withAddress({ connect(socket, $0, $1) }) == 0 else { return nil }
        try refuseStrangers(ControlLine.user(of: socket), owner: address.owner)
        return ControlLine.write(line, to: socket) ? ControlLine.read(socket) : nil
    }

    /// Throws unless the process that listens is one of this user, of root, or, for root, of the owner of the directory: another one could
    /// answer whatever it likes.
    private func refuseStrangers(_ user: uid_t?, owner: uid_t?) throws {
        let trusted = [geteuid(), 0] + (geteuid() == 0 ? [owner].compactMap(\.self) : [])
        guard let user, trusted.contains(user) else {
            let name = user.map { "user \($0)" } ?? "nobody knows whom"
            throw UsageError(
                "\(runDirectory)/\(ControlAddress.name): the process that listens there is of \(name), and was not asked"
            )
        }
    }
}
