import APNSBatch
import APNSBatchBasics
import APNSBatchModel

extension RunReport.NextStep {
    /// The number of parts that are named with a step of their own, and of those that one command names.
    private static let stepsMax = 5
    private static let namesMax = 20

    /// What to do about the parts that are not complete, the most urgent first.
    static func rest(of parts: [RunReport.PartLine], in directory: String) -> [RunReport.NextStep] {
        let open = parts.filter { $0.state != .complete }
        guard !open.isEmpty else { return [] }
        let failed = open.filter { $0.hasFailed }
        var steps = failed.prefix(stepsMax).map { step($0, in: directory) }
        if failed.count > stepsMax {
            let more = UInt64(failed.count - stepsMax).grouped
            steps.append(.init(text: "Look at \(more) more parts that have failed: parts in report.json."))
        }
        let count = open.count == 1 ? "the part that is" : "the \(UInt64(open.count).grouped) parts that are"
        steps.append(
            .init(text: "Start the program again that sends the campaign; it sends the rows of \(count) not complete."))
        return steps
    }

    private static func step(_ part: RunReport.PartLine, in directory: String) -> RunReport.NextStep {
        let text = "Remove the cause for which part \(part.part) failed: \(part.cause ?? "unknown")"
        guard part.state == .failed, part.left > 0 else { return .init(text: text) }
        let path = RunReport.PartLine.directory(of: part.part, in: directory)
        return .init(text: text, command: "apns-batch resume \(path.shellQuoted)")
    }

    /// The command that sends unavailable rows of parts again; nil if too many have them.
    static func retry(_ parts: [RunReport.PartLine], in directory: String) -> String? {
        let names = parts.filter { $0.rows(where: \.canBeReopened) > 0 }.map {
            RunReport.PartLine.directory(of: $0.part, in: directory)
        }
        guard names.count <= namesMax else { return nil }
        let commands = names.map { "apns-batch resume --retry-unavailable \($0.shellQuoted)" }
        return commands.joined(separator: "; ")
    }
}
