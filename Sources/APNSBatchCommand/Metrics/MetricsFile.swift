import APNSBatch
import APNSBatchBasics
import APNSBatchMetrics
import Foundation

/// The file of metrics that the textfile collector of the node exporter reads. It is replaced as a whole, by a file whose
/// temporary name the collector ignores, so that no reader sees a part of it.
struct MetricsFile: Sendable {
    let path: String
    private static let kind = OutputFile.Kind(
        "the metrics of apns-batch", at: .file, startingWith: "# HELP apns_batch_")

    /// - Parameters:
    ///   - place: The path of a file that ends in `.prom`, or of a directory.
    ///   - campaign: The name of the campaign, which is in the name of a file in a directory.
    /// - Throws: ``UsageError`` if the file could not be written, or if another program's file is at its path.
    init(_ place: String, campaign: String) throws {
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: place, isDirectory: &isDirectory)
        path = exists && isDirectory.boolValue ? "\(place)/apns_batch_\(campaign).prom" : place
        guard path.hasSuffix(".prom") else {
            throw UsageError("metrics_textfile: \(place): expected a directory, or a file whose name ends in .prom")
        }
        do {
            // Its temporary file is removed at once.
            _ = try OutputFile(path, Self.kind, readers: .otherPrograms)
        } catch {
            throw UsageError("metrics_textfile: \(error)", cause: error)
        }
    }

    /// What the file holds; empty if it cannot be read.
    var text: String {
        (try? OpenFile.content(of: path, most: 1 << 20)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    func write(_ text: String) throws(OutputFileError) {
        try OutputFile.write(Array(text.utf8), to: path, Self.kind, readers: .otherPrograms, isDurable: false)
    }
}
