import Testing

@testable import APNSBatch
@testable import APNSBatchModel
@testable import APNSBatchRecords

/// What a start with corrected rows does.
@Suite("The decision about a correction") struct CorrectionTableTests {
    private func decision(
        _ state: CorrectionFacts.State?, _ corrections: CorrectionFacts.Correction...
    ) -> CampaignBook.Decision {
        CorrectionTable.decision(CorrectionFacts(run: "r", state: state, corrections: corrections))
    }

    private func correction(
        _ number: Int, _ state: CorrectionFacts.State, hasInput: Bool = false
    ) -> CorrectionFacts.Correction { .init(directory: "r-\(number)", state: state, hasInput: hasInput) }

    @Test func `only a run that is complete can be corrected`() {
        #expect(decision(.complete) == .send)
        #expect(decision(.atWork) == .busy("r"))
        for state in [nil, .unfinished, .lost] as [CorrectionFacts.State?] {
            guard case .refuse(.correction) = decision(state) else {
                Issue.record("a run in the state \(String(describing: state)) is corrected")
                continue
            }
        }
    }

    @Test func `the same input continues its correction, or shows it`() {
        let others = correction(2, .complete)
        #expect(decision(.complete, correction(1, .unfinished, hasInput: true), others) == .resume("r-1"))
        #expect(decision(.complete, correction(1, .complete, hasInput: true), others) == .answer("r-1"))
        #expect(decision(.complete, correction(1, .unfinished), others) == .send)
    }

    @Test func `nothing is sent while another correction is at work, or if nobody knows what one has sent`() {
        #expect(decision(.complete, correction(1, .complete, hasInput: true), correction(2, .atWork)) == .busy("r-2"))
        for (state, cure) in [(.lost, "apns-batch abandon r-1"), (.unnamed, "restore that file")]
            as [(CorrectionFacts.State, String)]
        {
            let found = decision(.complete, correction(1, state), correction(2, .complete, hasInput: true))
            guard case .refuse(.correction(let text)) = found, text.hasPrefix("r-1 "), text.contains(cure) else {
                Issue.record("a correction in the state \(state): \(found)")
                continue
            }
        }
    }

    @Test(arguments: [
        ("runs/a-correction-1", "runs/a", 1), ("runs/a-correction-2/", "runs/a", 2),
        ("a-correction-1-correction-12", "a-correction-1", 12),
    ]) func `the path of a correction has that of its run`(path: String, run: String, number: UInt64) {
        #expect(CorrectionPath(path) == CorrectionPath(run: run, number: number))
        #expect(CorrectionPath(run: run, number: number).path == (path.hasSuffix("/") ? String(path.dropLast()) : path))
    }

    @Test(arguments: ["runs/a", "a-correction-", "a-correction-0", "a-correction-1x", "a-correction-1/b"])
    func `other paths are none of a correction`(path: String) { #expect(CorrectionPath(path) == nil) }
}
