import APNSBatch
import APNSBatchBasics
import APNSBatchModel

/// The parts of a run in parts, which are read one after the other: a line of each, and the sum of their summaries.
struct PartsSum {
    private(set) var lines: [RunReport.PartLine] = []
    private var sum: PartsSummary
    /// The exit code of the first part that has failed.
    private var exitCode: Int32?

    /// - Parameter content: Returns the content of the directory of a part.
    /// - Throws: The errors of `content`.
    init(
        _ manifest: PartsManifest, _ content: (_ part: Int) throws(CampaignError) -> PartDirectory.Content
    ) throws(CampaignError) {
        let count = manifest.parts.count
        sum = PartsSummary(
            id: manifest.campaignID, input: count == 1 ? "1 part" : "\(UInt64(count).grouped) parts",
            inputBytes: manifest.bytes, began: manifest.began)
        lines.reserveCapacity(count)
        for part in manifest.parts { add(part, try content(part.number)) }
    }

    private mutating func add(_ part: PartsManifest.Part, _ content: PartDirectory.Content) {
        func line(_ state: RunReport.PartLine.State, _ verdict: String, cause: String? = nil) -> RunReport.PartLine {
            RunReport.PartLine(part.number, rows: part.rows, state, verdict: "FAILED: \(verdict)", cause: cause)
        }
        switch content {
        case .notBegun:
            sum.add(unreadRows: part.rows)
            lines.append(line(.notBegun, "the part was not begun"))
        case .killed:
            sum.add(leftRows: part.rows)
            lines.append(
                line(.killed, "there is no summary of the last process, because it was killed; resume the part"))
        case .damaged(let cause):
            sum.add(leftRows: part.rows)
            lines.append(line(.damaged, cause, cause: cause))
        case .summary(let summary):
            sum.add(summary, number: part.number, rows: part.rows)
            let line = RunReport.PartLine(part.number, rows: part.rows, summary)
            if line.state == .failed, exitCode == nil { exitCode = summary.exitCode }
            lines.append(line)
        }
    }

    /// The summary of all parts.
    var summary: CampaignSummary {
        let open = lines.filter { $0.state != .complete }
        guard !open.isEmpty else { return sum.complete }
        guard open.contains(where: \.hasFailed) else {
            return sum.incomplete(.interrupted, cause: cause(open), exitCode: 75)
        }
        // A part that cannot be read, or belongs to another manifest, cannot be resumed.
        return sum.incomplete(.failed, cause: cause(open), exitCode: exitCode ?? 64)
    }

    /// Such as `2 of 12 parts failed, 1 not begun; part 3: cannot reach …`.
    private func cause(_ open: [RunReport.PartLine]) -> String {
        var counts: [String] = []
        for state in RunReport.PartLine.State.allCases {
            let count = open.count { $0.state == state }
            guard count > 0 else { continue }
            let of = counts.isEmpty ? " of \(UInt64(lines.count).grouped) parts" : ""
            counts.append("\(UInt64(count).grouped)\(of) \(state == .wrongRows ? "with " : "")\(state.words)")
        }
        let first =
            open.first(where: \.hasFailed).map { "; part \($0.part): \($0.cause ?? "the cause is unknown")" } ?? ""
        return counts.joined(separator: ", ") + first
    }
}

extension RunReport {
    /// Makes the report of all parts of a run in parts. It reads the summaries and timelines of the parts one after the other.
    ///
    /// - Parameter context: The settings of a part. Name and history are not used.
    /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/busy`` if a process is working on a part.
    public init(of run: DistributedRun, _ context: ReportContext) throws(CampaignError) {
        let sum = try PartsSum(run.manifest) { (part) throws(CampaignError) in
            try PartDirectory(part, in: run.directory).content()
        }
        var context = context
        context.campaign = run.manifest.campaign
        let begun = sum.lines.lazy.filter { $0.state != .notBegun }
        let course = RunCourse(
            ofParts: begun.map { (part: $0.part, path: PartDirectory($0.part, in: run.directory).path) })
        self.init(run.directory, sum.summary, context, earlier: [], course: course, parts: sum.lines)
    }
}
