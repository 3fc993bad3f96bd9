import APNSBatchBasics
import Foundation
import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

@Suite("Mailbox") struct MailboxTests {
    private final class Owner: SubmissionOwner {
        let ends = Guarded<[Mailbox.End]>([])

        func submissionDidEnd(_ end: consuming Mailbox.End, tag: Int) -> WaitingTask? {
            let end = end
            ends.withLock { $0.append(end) }
            return nil
        }
    }

    private static func submit(_ mailbox: Mailbox, _ number: Int, _ owner: Owner) throws -> UInt64 {
        try #require(try mailbox.submit(SubmittedFields.of(push(number)) { 0 }, deadline: .max, owner: owner))
    }

    private static func take(_ mailbox: Mailbox) -> [UInt64] {
        var taken: [Submission] = []
        mailbox.take(10, lane: 0, into: &taken)
        return taken.map(\.id)
    }

    @Test func `a submission that takes the place of another one is not ended in its name`() throws {
        let mailbox = Mailbox(lanes: 1, most: 10)
        let (first, second) = (Owner(), Owner())
        let ended = try Self.submit(mailbox, 1, first)
        #expect(Self.take(mailbox) == [ended])
        mailbox.fail(ended, .timedOut, .maybeSent, "no result in time")
        #expect(first.ends.withLock { $0.count } == 1)
        let next = try Self.submit(mailbox, 2, second)
        #expect(Submission.place(of: next) == Submission.place(of: ended) && next != ended)
        // Its task is cancelled, and its lane gives up, after it has ended.
        mailbox.cancel(ended)
        mailbox.giveUp(ended, .maybeSent)
        #expect(Self.take(mailbox) == [next])
        mailbox.cancel(ended)
        #expect(!mailbox.hasInterrupted(lane: 0) && mailbox.pending == 1)
        #expect(first.ends.withLock { $0.count } == 1 && second.ends.withLock { $0.isEmpty })
    }

    @Test func `a submission that nobody has taken ends at once when its task is cancelled`() throws {
        let mailbox = Mailbox(lanes: 1, most: 10)
        let owner = Owner()
        let id = try Self.submit(mailbox, 1, owner)
        mailbox.cancel(id)
        #expect(owner.ends.withLock { $0.count } == 1 && mailbox.pending == 0)
        #expect(Self.take(mailbox).isEmpty)
    }

    @Test func `to wake a lane a hundred times takes no more of the stack than to wake it once`() throws {
        let mailbox = Mailbox(lanes: 1, most: 1000)
        let depths = Guarded<[Int]>([])
        // Functions are counted and not the addresses of variables: the address sanitizer moves those off the stack.
        mailbox.attach(
            wake: { _ in depths.withLock { $0.append(Thread.callStackReturnAddresses.count) } }, explain: { nil })
        let owner = Owner()
        for number in 0..<100 {
            _ = mailbox.mayWait(lane: 0)
            _ = try Self.submit(mailbox, number, owner)
            _ = Self.take(mailbox)
        }
        let seen = depths.withLock { $0 }
        #expect(seen.count == 100 && seen[0] > 0)
        #expect(Set(seen).count == 1)
    }
}
