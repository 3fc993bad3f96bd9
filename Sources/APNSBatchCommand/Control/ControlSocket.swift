import APNSBatch
import APNSBatchBasics
import APNSBatchMetrics
import Glibc

/// The socket over which `apns-batch control` reaches a run: it takes one line from each client, and answers with one line,
/// `ok: …` or `refused: …`. Only processes of the same user and of root are heard.
final class ControlSocket: Sendable {
    private let server: SmallServer
    private let address: ControlAddress
    /// The socket's file. Another process may have put its own there when this run has ended.
    private let file: ino_t?

    /// A client has two seconds for its line.
    private static let limits = ClientTable.Limits(
        clients: 16, request: ControlLine.bytesMost, patience: 2_000_000_000)

    /// Opens the socket in the directory of the run, on a thread of its own. Call it when the run has its directory for itself.
    ///
    /// - Throws: ``SystemError`` if the directory can hold no socket, or if there can be no thread.
    init(_ run: CampaignRun) throws {
        let address = try ControlAddress(run.directory)
        let socket = try Self.listeningSocket(at: address, in: run.directory)
        let file = address.file
        do {
            server = try SmallServer(
                "control", at: socket, Self.limits, endOfRequest: "\n", isTrusted: Self.isTrusted
            ) { ControlLine.line(of: $0).map { ControlLine.bytes(of: Self.answer(to: $0, on: run)) } }
        } catch {
            if let file { address.removeSocket(file) }
            throw error
        }
        self.address = address
        self.file = file
    }

    private static func listeningSocket(at address: borrowing ControlAddress, in directory: String) throws -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        address.removeSocket()
        // The mode of a socket's file is that of the socket when it is bound, so that it never has another one.
        guard socket >= 0, fchmod(socket, 0o600) == 0,
            address.withAddress({ bind(socket, $0, $1) }) == 0, listen(socket, 16) == 0
        else {
            let cause = String(cString: strerror(errno))
            if socket >= 0 { Glibc.close(socket) }
            throw SystemError("\(directory)/\(ControlAddress.name): \(cause)")
        }
        return socket
    }

    /// Takes no further clients, and removes the socket's file.
    func end() {
        if let file { address.removeSocket(file) }
        server.stop()
    }

    private static func answer(to line: String, on run: CampaignRun) -> String {
        do {
            let done = try ControlRequest(line).perform(on: run)
            complain("control: \(done)")
            return "ok: \(done)"
        } catch {
            return "refused: \(error)"
        }
    }

    /// Whether the process at the other end belongs to the same user or to root.
    private static func isTrusted(_ client: Int32) -> Bool {
        guard let user = ControlLine.user(of: client) else { return false }
        return user == geteuid() || user == 0
    }
}
