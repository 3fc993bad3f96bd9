import LaneTransport
import Synchronization

/// The addresses of the host, shared by the lanes. Asked anew in the background when a connection could not be made.
final class AddressBook: Sendable {
    private let host: String
    private let port: UInt16
    private let known: Guarded<[SocketAddress]>
    private let isAsking = Atomic<Bool>(false)
    private let surroundings: Surroundings

    /// Blocks for the resolver.
    init(host: String, port: UInt16, surroundings: Surroundings = .system) throws(CampaignError) {
        self.host = host
        self.port = port
        self.surroundings = surroundings
        do {
            known = Guarded(try surroundings.resolve(host, port))
        } catch {
            throw CampaignError(.unreachable, "\(error)")
        }
    }

    var count: Int { known.withLock { $0.count } }

    /// The address of this number, modulo the addresses known.
    subscript(number: Int) -> SocketAddress { known.withLock { $0[number % $0.count] } }

    /// Starts a look-up on a thread of its own unless one runs. What fails changes nothing.
    func askAnew() {
        guard !isAsking.exchange(true, ordering: .acquiringAndReleasing) else { return }
        surroundings.aside("resolver") { [self] in
            if let found = try? surroundings.resolve(host, port) { known.withLock { $0 = found } }
            isAsking.store(false, ordering: .releasing)
        }
    }
}
