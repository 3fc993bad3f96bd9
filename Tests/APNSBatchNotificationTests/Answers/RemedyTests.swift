import APNSBatchNotification
import Testing

@Suite("Remedies")
struct RemedyTests {
    @Test("Reasons that a user can act on have a remedy")
    func remedies() {
        for rule in AnswerRule.all where rule.action == .stop && rule.reason != .methodNotAllowed {
            #expect(rule.reason.remedy != nil, "\(rule.text)")
        }
    }
}
