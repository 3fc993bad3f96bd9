import APNSBatchModel
import Synchronization

/// The life of an object that begins once, whatever became of it.
struct Life: ~Copyable, Sendable {
    private let hasBegun = Atomic<Bool>(false)

    /// Begins the life, or throws if it began before. Any thread may call it.
    ///
    /// - Parameter text: The text of an error.
    func begin(_ text: String) throws(CampaignError) {
        guard !hasBegun.exchange(true, ordering: .acquiringAndReleasing) else { throw CampaignError(.alreadyRun, text) }
    }
}

/// The life of something that has copies.
@usableFromInline final class SharedLife: Sendable {
    private let life = Life()

    @usableFromInline init() {}

    /// Begins the life. Returns false if it began before.
    @usableFromInline var begins: Bool { (try? life.begin("")) != nil }
}
