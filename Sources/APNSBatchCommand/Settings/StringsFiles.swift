import APNSBatch
import Foundation

/// Finds an app's `Localizable.strings` files.
enum StringsFiles {
    private static let name = "Localizable.strings"

    /// Reads the strings files at a path, which is a strings file, an `.lproj` folder, or a folder that contains such
    /// folders. The language is the name of the `.lproj` folder, or of the file if there is none.
    static func read(_ path: String) throws -> [Campaign.Strings] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw UsageError("\(path): no such file or folder")
        }
        let url = URL(fileURLWithPath: path)
        guard isFolder.boolValue else { return [try read(url, named: path)] }
        if url.pathExtension == "lproj" {
            return [try read(url.appending(path: name), named: "\(path)/\(name)")]
        }
        return try projects(in: path).map { folder in
            try read(url.appending(path: "\(folder)/\(name)"), named: "\(path)/\(folder)/\(name)")
        }
    }

    /// Returns the `.lproj` folders in a folder. Base.lproj may lack a strings file, because it may hold only storyboards. In
    /// any other folder that is an error, because the language would not be checked.
    private static func projects(in path: String) throws -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let folders = all.filter { $0.hasSuffix(".lproj") }.sorted()
        let found = folders.filter { FileManager.default.fileExists(atPath: "\(path)/\($0)/\(name)") }
        if let empty = folders.first(where: { !found.contains($0) && $0 != "Base.lproj" }) {
            throw UsageError("\(path)/\(empty): contains no \(name)")
        }
        if found.isEmpty { throw UsageError("\(path): contains no .lproj folder with a \(name)") }
        return found
    }

    private static func read(_ url: URL, named name: String) throws -> Campaign.Strings {
        let folder = url.deletingLastPathComponent()
        let language = folder.pathExtension == "lproj" ? folder : url
        return .init(
            language: language.deletingPathExtension().lastPathComponent, content: try InputFile.bytes(of: name),
            name: name)
    }
}
