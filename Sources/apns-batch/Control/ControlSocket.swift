import APNSBatch
import APNSBatchBasics
import Glibc

/// The socket over which `apns-batch control` reaches a run: it takes one line from a client at a time, and answers with one
/// line, `ok: …` or `refused: …`. Only processes of the same user and of root are heard.
final class ControlSocket: Sendable {
    private let socket: Int32
    private let run: CampaignRun
    private let address: ControlAddress
    /// The socket's file. Another process may have put its own there when this run has ended.
    private let file: ino_t?

    /// The time that a client has for its line, in seconds. Other clients wait meanwhile.
    private static let patience = 2

    /// Opens the socket in the directory of the run, on a thread of its own. Call it when the run has its directory for itself.
    ///
    /// - Throws: ``SystemError`` if the directory can hold no socket, or if there can be no thread.
    init(_ run: CampaignRun) throws {
        self.run = run
        address = try ControlAddress(run.directory)
        socket = try Self.listeningSocket(at: address, in: run.directory)
        file = address.file
        guard NamedThread.tryDetached("control", { [self] in serve() }) else {
            end()
            throw SystemError("cannot start a thread for the control socket")
        }
    }

    private static func listeningSocket(at address: borrowing ControlAddress, in directory: String) throws -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        address.removeSocket()
        // The mode of a socket's file is that of the socket when it is bound, so that it never has another one.
        guard socket >= 0, fchmod(socket, 0o600) == 0,
            address.withAddress({ bind(socket, $0, $1) }) == 0, listen(socket, 8) == 0
        else {
            let cause = String(cString: strerror(errno))
            if socket >= 0 { Glibc.close(socket) }
            throw SystemError("\(directory)/\(ControlAddress.name): \(cause)")
        }
        return socket
    }

    deinit { Glibc.close(socket) }

    /// Takes no further clients, and removes the socket's file.
    func end() {
        if let file { address.removeSocket(file) }
        shutdown(socket, Int32(SHUT_RDWR))
    }

    private func serve() {
        while true {
            let client = accept(socket, nil, nil)
            if client < 0 {
                // Descriptors may be used up for a while; any other error means the end.
                guard [EINTR, ECONNABORTED, EMFILE, ENFILE, ENOMEM].contains(errno) else { return }
                usleep(10_000)
                continue
            }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            ControlLine.limit(client, seconds: Self.patience)
            if Self.isTrusted(client), let line = ControlLine.read(client) {
                ControlLine.write(answer(to: line), to: client)
            }
            Glibc.close(client)
        }
    }

    private func answer(to line: String) -> String {
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
