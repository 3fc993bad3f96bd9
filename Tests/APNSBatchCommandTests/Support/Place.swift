import Foundation

/// A new directory for one test, removed at its end.
final class Place {
    let directory = FileManager.default.temporaryDirectory.appending(path: "apns-batch-\(UUID().uuidString)")

    /// With some rows and a template for them.
    init() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try write("token,first_name\n00aa,Ada\n", to: "rows.csv")
        try write(#"{"aps":{"alert":"Hi {{first_name}}"}}"#, to: "t.json")
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func path(_ name: String) -> String { directory.appending(path: name).path }

    /// Writes a file that only its owner can access, and returns its path.
    @discardableResult
    func write(_ text: String, to name: String) throws -> String { try write(Data(text.utf8), to: name) }

    @discardableResult
    func write(_ bytes: Data, to name: String) throws -> String {
        try bytes.write(to: directory.appending(path: name))
        chmod(path(name), 0o600)
        return path(name)
    }
}
