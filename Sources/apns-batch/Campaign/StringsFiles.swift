import APNSBatch
import Foundation

/// Finds an app's `Localizable.strings` files.
enum StringsFiles {
    private static let name = "Localizable.strings"

    /// The files of a path: a strings file, an `.lproj` folder, or a folder that has such folders in it. The language is
    /// the name of the `.lproj` folder, or the file's own without one.
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

    /// The `.lproj` folders in a folder. Base.lproj may have storyboards only; any other without texts is a language that
    /// would go unchecked.
    private static func projects(in path: String) throws -> [String] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let folders = all.filter { $0.hasSuffix(".lproj") }.sorted()
        let found = folders.filter { FileManager.default.fileExists(atPath: "\(path)/\($0)/\(name)") }
        if let empty = folders.first(where: { !found.contains($0) && $0 != "Base.lproj" }) {
            throw UsageError("\(path)/\(empty): no \(name) in it")
        }
        if found.isEmpty { throw UsageError("\(path): no .lproj folder with a \(name) in it") }
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
