import Testing

@testable import APNSBatch
@testable import APNSBatchModel

/// The table of decisions: what the history has × what the configured input is.
@Suite("Decisions about a start") struct BookTableTests {
    private typealias Decision = CampaignBook.Decision
    private typealias Unfinished = BookFacts.Unfinished

    private static func rules(_ change: (inout Campaign.BookRules) -> Void = { _ in }) -> Campaign.BookRules {
        var rules = Campaign.BookRules(directory: "runs", nightBegan: 0)
        change(&rules)
        return rules
    }

    private static func decision(
        _ input: BookFacts.Input, unfinished: [Unfinished] = [], complete: String? = nil,
        _ change: (inout Campaign.BookRules) -> Void = { _ in }
    ) -> Decision {
        BookTable.decision(
            BookFacts(input: input, unfinished: unfinished, completeTonight: complete, sentTonight: complete),
            rules(change))
    }

    private static let kept = Unfinished(directory: "kept", isKept: true)
    private static let file = Unfinished(directory: "file")
    private static let atWork = Unfinished(directory: "at work", isKept: true, isAtWork: true)
    private static let lost = Unfinished(directory: "lost", isLost: true)

    @Test func `without a history, a new input is sent and an absent one is waited for`() {
        #expect(Self.decision(.new) == .send)
        #expect(Self.decision(.unread) == .send)
        #expect(Self.decision(.absent("no file")) == .wait(.absent("no file")))
    }

    @Test func `an unfinished run of this input is resumed, whatever the night and the rules`() {
        for repeats in [false, true] {
            for finishes in [false, true] {
                for complete in [nil, "tonight"] {
                    let decision = Self.decision(.unfinished(Self.file), unfinished: [Self.kept], complete: complete) {
                        ($0.repeatsNightly, $0.finishesEarlier) = (repeats, finishes)
                    }
                    #expect(decision == .resume("file"))
                }
            }
        }
        #expect(Self.decision(.unfinished(Self.file)) { $0.again = true } == .resume("file"))
        #expect(Self.decision(.unfinished(Self.atWork)) == .busy("at work"))
        #expect(Self.decision(.unfinished(Self.lost)) == .refuse(.lost("lost")))
        #expect(Self.decision(.unfinished(Self.lost)) { $0.again = true } == .send)
    }

    @Test func `a new input is sent beside unfinished runs, or after those that have kept their rows`() {
        #expect(Self.decision(.new, unfinished: [Self.kept, Self.file]) == .send)
        for input in [BookFacts.Input.new, .unread, .produced] {
            #expect(
                Self.decision(input, unfinished: [Self.file, Self.atWork, Self.kept]) { $0.finishesEarlier = true }
                    == .finish("kept"))
            #expect(
                Self.decision(input, unfinished: [Self.file, Self.atWork, Self.lost]) { $0.finishesEarlier = true }
                    == .send)
        }
    }

    @Test func `where nothing is to be sent, an unfinished run that has kept its rows is finished`() {
        for input in [BookFacts.Input.absent("no file"), .sent(by: "old", tonight: false)] {
            #expect(Self.decision(input, unfinished: [Self.file, Self.kept]) == .finish("kept"))
            #expect(Self.decision(input, unfinished: [Self.kept], complete: "tonight") == .finish("kept"))
            #expect(
                Self.decision(input, unfinished: [Self.file, Self.atWork], complete: "tonight") == .answer("tonight"))
        }
        #expect(Self.decision(.absent("no file"), unfinished: [Self.file]) == .wait(.absent("no file")))
    }

    @Test func `a complete run of this night answers again, and another input of the night is refused`() {
        #expect(Self.decision(.sent(by: "tonight", tonight: true), complete: "tonight") == .answer("tonight"))
        #expect(Self.decision(.absent("no file"), complete: "tonight") == .answer("tonight"))
        #expect(Self.decision(.produced, complete: "tonight") == .answer("tonight"))
        #expect(Self.decision(.new, complete: "tonight") == .refuse(.another("tonight")))
        #expect(Self.decision(.new, complete: "tonight") { $0.again = true } == .send)
        #expect(Self.decision(.produced, complete: "tonight") { $0.again = true } == .send)
        // Its rows decide when they have been read.
        #expect(Self.decision(.unread, complete: "tonight") == .send)
    }

    @Test func `rows that an unfinished run has begun to send with another input need a person`() {
        for run in [Self.kept, Self.file] {
            #expect(Self.decision(.shared(run), unfinished: [run]) == .refuse(.shared(by: run.directory)))
            #expect(Self.decision(.shared(run), unfinished: [run]) { $0.again = true } == .send)
        }
        #expect(Self.decision(.shared(Self.kept)) { $0.finishesEarlier = true } == .finish("kept"))
        #expect(Self.decision(.shared(Self.file)) { $0.finishesEarlier = true } == .refuse(.shared(by: "file")))
        #expect(Self.decision(.shared(Self.lost)) == .refuse(.lost("lost")))
        for again in [false, true] {
            #expect(Self.decision(.shared(Self.atWork)) { $0.again = again } == .busy("at work"))
        }
    }

    @Test func `a run with another message is not finished by this one`() {
        var other = Self.kept
        other.isOther = true
        #expect(Self.decision(.new, unfinished: [other]) { $0.finishesEarlier = true } == .send)
        #expect(Self.decision(.absent("no file"), unfinished: [other]) == .wait(.absent("no file")))
    }

    @Test func `with again, an input that is not there is not answered for by another one`() {
        #expect(
            Self.decision(.absent("no file"), complete: "tonight") { $0.again = true } == .wait(.absent("no file")))
    }

    @Test func `a run of this night that the start has finished answers, and holds up no other input`() {
        func decision(_ input: BookFacts.Input) -> Decision {
            BookTable.decision(BookFacts(input: input, completeTonight: "tonight"), Self.rules())
        }
        #expect(decision(.new) == .send)
        #expect(decision(.absent("no file")) == .answer("tonight"))
    }

    @Test func `an input of an earlier night is as one that has not come yet, unless it may be sent once each night`() {
        let sent = BookFacts.Input.sent(by: "old", tonight: false)
        #expect(Self.decision(sent) == .wait(.sent(by: "old")))
        #expect(Self.decision(sent) { $0.repeatsNightly = true } == .send)
        #expect(Self.decision(sent) { $0.again = true } == .send)
        #expect(Self.decision(sent, complete: "tonight") { $0.repeatsNightly = true } == .refuse(.another("tonight")))
        #expect(Self.decision(.sent(by: "tonight", tonight: true)) { $0.repeatsNightly = true } == .answer("tonight"))
        #expect(Self.decision(.sent(by: "tonight", tonight: true)) { $0.again = true } == .send)
    }

    @Test func `what was sent in part, with another message, or before it grew needs a person`() {
        for (input, objection) in [
            (.partlySent(files: ["a"], by: "old"), .partlySent(files: ["a"], by: "old")),
            (.abandoned(by: "old"), .abandoned(by: "old")),
            (.shared(Self.file), .shared(by: "file")),
            (.changed(by: "tonight"), .changed(by: "tonight")),
            (.grown(from: "old", rows: 7), .grown(from: "old", rows: 7)),
        ] as [(BookFacts.Input, CampaignBook.Objection)] {
            #expect(Self.decision(input) == .refuse(objection))
            #expect(Self.decision(input) { $0.again = true } == .send)
            #expect(CampaignBook.Refusal(.refuse(objection)).description.contains("--again"))
        }
    }
}
