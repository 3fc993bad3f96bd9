import APNSBatchBasics
import APNSBatchModel
import Glibc

/// The path of the directory of a correction: that of the corrected run, `-correction-` and a number from 1.
package struct CorrectionPath: Sendable, Equatable {
    /// The path of the corrected run.
    package let run: String
    package let number: UInt64

    package init(run: String, number: UInt64) { (self.run, self.number) = (Self.withoutSlash(run), number) }

    /// Returns nil for a path that is not of this form.
    package init?(_ path: String) {
        let path = Self.withoutSlash(path)
        guard let mark = path.ranges(of: Self.mark).last, let number = UInt64(path[mark.upperBound...]), number > 0
        else { return nil }
        self.init(run: String(path[..<mark.lowerBound]), number: number)
    }

    package var path: String { "\(run)\(Self.mark)\(number)" }

    private static let mark = "-correction-"

    private static func withoutSlash(_ path: String) -> String {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return String(path)
    }

    /// The directories that have the path of a correction, and lie in one of some directories, by run and number.
    ///
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/results`` if a directory cannot be read.
    package static func all(in directories: Set<String>) throws(CampaignError) -> [CorrectionPath] {
        var found: [CorrectionPath] = []
        for directory in directories where RunDirectory.exists(directory) {
            for name in try names(in: directory) {
                guard let path = CorrectionPath("\(directory == "/" ? "" : directory)/\(name)") else { continue }
                found.append(path)
            }
        }
        return found.sorted { ($0.run, $0.number) < ($1.run, $1.number) }
    }

    private static func names(in directory: String) throws(CampaignError) -> [String] {
        guard let stream = unsafe opendir(directory) else {
            let error = StorageError("read", directory, code: errno)
            throw CampaignError(.results, "\(error)", cause: error)
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
                unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.contains(mark) { names.append(name) }
        }
        return names
    }
}
