import LaneTransport
import Synchronization

/// The addresses of the host, shared by the lanes. Asked anew in the background when a connection could not be made.
final class AddressBook: Sendable {
    private let host: String
    private let port: UInt16
    private let known: Guarded<[SocketAddress]>
    private let isAsking = Atomic<Bool>(false)

    /// Blocks for the resolver.
    init(host: String, port: UInt16) throws(CampaignError) {
        self.host = host
        self.port = port
        do {
            known = Guarded(try HostResolver.resolve(host: host, port: port))
        } catch {
            throw CampaignError(.unreachable, error.description)
        }
    }

    var count: Int { known.withLock { $0.count } }

    /// The address of this number, modulo the addresses known.
    subscript(number: Int) -> SocketAddress { known.withLock { $0[number % $0.count] } }

    /// Starts a look-up on a thread of its own unless one runs. What fails changes nothing.
    func askAnew() {
        guard !isAsking.exchange(true, ordering: .acquiringAndReleasing) else { return }
        LaneThread.detached(name: "resolver") { [self] in
            if let found = try? HostResolver.resolve(host: host, port: port) { known.withLock { $0 = found } }
            isAsking.store(false, ordering: .releasing)
        }
    }
}
