import APNSBatch
import APNSBatchReport
import Foundation

/// The runs in parts in a directory of nights. Their programs write no history.
struct NightsInParts {
    /// Whether there is one, complete or not.
    private(set) var isEmpty = true
    /// Those with rows that have not ended, in the order of their names.
    private(set) var unfinished: [Unfinished] = []
    /// What is wrong with those that cannot be read.
    private(set) var faults: [String] = []

    init(in directory: String) {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            for name in names.sorted() where name != Self.ofFileSystem { look(at: "\(directory)/\(name)") }
        } catch {
            guard FileManager.default.fileExists(atPath: directory) else { return }
            refuse("\(directory): \(error.localizedDescription)")
        }
    }

    /// What file systems have at their top, and only root may look into.
    private static let ofFileSystem = "lost+found"

    private mutating func look(at directory: String) {
        do {
            guard let run = try DistributedRun(ifIn: directory) else { return }
            isEmpty = false
            let status = PartsStatus(of: run)
            if !status.isDone { unfinished.append(Unfinished(status, in: run.directory)) }
        } catch {
            refuse("\(error)")
        }
    }

    private mutating func refuse(_ fault: String) {
        faults.append(fault)
        isEmpty = false
    }

    /// A run in parts with rows that have not ended.
    struct Unfinished: Encodable {
        let runDirectory: String
        let left: UInt64
        let isAtWork: Bool
        let parts: Int
        let partsLeft: Int
        let ending = "unfinished"

        private enum CodingKeys: String, CodingKey {
            case left, parts, ending
            case runDirectory = "run_dir"
            case isAtWork = "at_work"
            case partsLeft = "parts_left"
        }

        init(_ status: PartsStatus, in directory: String) {
            runDirectory = directory
            (left, parts) = (status.rows - min(status.rows, status.ended), status.parts.count)
            partsLeft = status.parts.count { $0.state != .complete }
            isAtWork = status.isAtWork || status.parts.contains { $0.state == .sending }
        }

        /// `runs/2026-11-24: 80 rows are left in 2 of 3 parts: call the program again that divided the rows`.
        var sentence: String {
            let rows = "\(left.grouped) row\(left == 1 ? " is" : "s are") left in \(partsLeft) of \(parts) parts"
            if isAtWork { return "\(runDirectory): \(rows), and a process is working on this run" }
            return "\(runDirectory): \(rows): call the program again that divided the rows"
        }
    }
}
