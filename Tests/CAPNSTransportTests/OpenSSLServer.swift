import APNSBatchCredentials
import APNSBatchIdentities
import Glibc

/// OpenSSL's own server in a separate process, on a port that it chooses.
final class OpenSSLServer {
    private(set) var port: UInt16 = 0
    private var process = pid_t()
    private var files: [String] = []
    /// The pipes of the server's input and output. The server ends when either is closed.
    private var input: [Int32] = [-1, -1]
    private var output: [Int32] = [-1, -1]

    init(_ arguments: [String]) throws {
        let certificate = try file(ServerIdentity.test.certificatePEM)
        let key = try file(ServerIdentity.test.keyPEM)
        try start(
            ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key] + arguments)
        port = try OpenSSLServer.port(from: output[0])
    }

    deinit {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        (input + output).forEach { close($0) }
        files.forEach { unlink($0) }
    }

    /// Writes to the server's input: s_server passes it on to the client.
    func write(_ bytes: [UInt8]) { _ = Glibc.write(input[1], bytes, bytes.count) }

    /// Reads the server's output until it contains a text, at most for 20 seconds. Returns what was read.
    func output(until wanted: String) -> String {
        var text = ""
        var room = [UInt8](repeating: 0, count: 65_536)
        let end = time(nil) + 20
        while !text.contains(wanted), time(nil) < end {
            var ready = pollfd(fd: output[0], events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 1000) > 0 else { continue }
            let count = read(output[0], &room, room.count)
            guard count > 0 else { break }
            // What the client sends is not text.
            text += String(room[..<count].map { Character(UnicodeScalar($0)) })
        }
        return text
    }

    private func file(_ bytes: [UInt8]) throws -> String {
        var name = Array("/tmp/transport-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw TransportFailure(status: errno, text: "mkstemp")
        }
        close(descriptor)
        let path = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        files.append(path)
        return path
    }

    private func start(_ arguments: [String]) throws {
        guard pipe(&input) == 0, pipe(&output) == 0 else { throw TransportFailure(status: errno, text: "pipe") }
        (input + output).forEach { _ = fcntl($0, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input[0], 0)
        posix_spawn_file_actions_adddup2(&actions, output[1], 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        let status = posix_spawnp(&process, "openssl", &actions, nil, &words, environ)
        guard status == 0 else { throw TransportFailure(status: status, text: "openssl") }
    }

    /// Reads up to the line that names the port: `ACCEPT 127.0.0.1:12345`.
    private static func port(from output: Int32) throws -> UInt16 {
        var text = ""
        while true {
            var byte: UInt8 = 0
            guard read(output, &byte, 1) == 1 else { throw TransportFailure(status: 0, text: "openssl ended: \(text)") }
            guard byte == 10 else {
                text.append(Character(UnicodeScalar(byte)))
                continue
            }
            if text.hasPrefix("ACCEPT "), let port = text.split(separator: ":").last.flatMap({ UInt16($0) }) {
                return port
            }
            text = ""
        }
    }
}
