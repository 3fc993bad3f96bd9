import Testing

@testable import APNSProtocol

@Suite("Answers that speak of the whole campaign")
struct AnswerAlarmsTests {
    private func answer(_ reason: KnownReason) -> Answer { Answer(status: 400, reason: .known(reason)) }

    /// Notes this reason as every answer out of so many; gives the number of answers at the stop and what was said.
    private func stop(_ reason: KnownReason, percent: UInt64, of answers: UInt64) -> (UInt64, String)? {
        var alarms = AnswerAlarms()
        for answered in 1...answers where answered * percent / 100 != (answered - 1) * percent / 100 {
            if let said = alarms.note(answer(reason), answered: answered) { return (answered, said) }
        }
        return nil
    }

    @Test("tokens of the other environment stop it when there are enough answers to tell")
    func wrongEnvironment() throws {
        let (answered, said) = try #require(stop(.badDeviceToken, percent: 90, of: 2000))
        #expect(answered == 500)
        #expect(
            said
                == "450 of 500 answers are BadDeviceToken: are the tokens of the other environment, production or sandbox?"
        )
        #expect(stop(.badDeviceToken, percent: 90, of: 499) == nil)
    }

    @Test("some bad tokens among good ones do not, nor do dead ones, nor a late wave")
    func others() {
        #expect(stop(.badDeviceToken, percent: 70, of: 20_000) == nil)
        #expect(stop(.unregistered, percent: 100, of: 20_000) == nil)
        var alarms = AnswerAlarms()
        for answered in (AnswerAlarms.answersMax + 1)...(AnswerAlarms.answersMax + 2000) {
            #expect(alarms.note(answer(.badDeviceToken), answered: answered) == nil)
        }
    }

    @Test("a fault of the rows stops it only when every row has it")
    func everyRow() {
        #expect(stop(.badExpirationDate, percent: 100, of: 500)?.0 == 500)
        #expect(stop(.badExpirationDate, percent: 99, of: 20_000) == nil)
        #expect(stop(.deviceTokenNotForTopic, percent: 85, of: 1000)?.0 == 500)
    }
}
