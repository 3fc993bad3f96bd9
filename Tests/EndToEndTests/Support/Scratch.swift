import Foundation
import Synchronization

/// A new directory for one test, removed at its end.
final class Scratch: Sendable {
    let directory: URL
    private let count = Atomic(0)

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "apns-batch-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func file(_ name: String) -> URL { directory.appending(path: name) }

    func path(_ name: String) -> String { file(name).path }

    /// Writes a file that only its owner can access, because keys and passphrases are such files.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try text.write(to: file(name), atomically: true, encoding: .utf8)
        chmod(path(name), 0o600)
        return path(name)
    }

    func read(_ name: String) throws -> String { try String(contentsOf: file(name), encoding: .utf8) }

    func nextNumber() -> Int { count.add(1, ordering: .relaxed).newValue }
}
