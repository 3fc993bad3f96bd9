import CAPNSReactor
import Glibc
import Testing

@Suite("Waiting")
struct WaitingTests {
    @Test("A wait without events returns at its limit", arguments: Backend.available, [0, 1_000_000] as [UInt64])
    func limit(backend: Backend, linger: UInt64) throws {
        let loop = try Loop(backend)
        let start = loop.now
        #expect(loop.wait(timeout: 4_000_000, linger: linger, batch: 100).isEmpty)
        #expect(loop.now >= start + 4_000_000)
        #expect(loop.wait(timeout: 0, linger: linger, batch: 100).isEmpty)
    }

    @Test("Another thread ends a wait", arguments: Backend.available, [0, 1_000_000] as [UInt64])
    func wake(backend: Backend, linger: UInt64) throws {
        let loop = try Loop(backend)
        for _ in 0..<50 {
            let target = Target(reactor: loop.reactor)
            let waker = Worker { apns_reactor_wake(target.reactor) }
            #expect(loop.wait(timeout: UInt64.max, linger: linger, batch: 100).map(\.kind) == [APNS_REACTOR_WOKEN])
            waker.join()
        }
        #expect(loop.wait(timeout: 0).isEmpty)
    }

    @Test("Many wakes before a wait are one event", arguments: Backend.available)
    func wakesCoalesce(backend: Backend) throws {
        let loop = try Loop(backend)
        for _ in 0..<1000 {
            loop.wake()
        }
        #expect(loop.wait(timeout: UInt64.max).map(\.kind) == [APNS_REACTOR_WOKEN])
        #expect(loop.wait(timeout: 0).isEmpty)
    }

    @Test("Every wake in a long series is followed by an event", arguments: Backend.available)
    func wakeStorm(backend: Backend) throws {
        let loop = try Loop(backend)
        let target = Target(reactor: loop.reactor)
        let wakers = (0..<4).map { _ in
            Worker {
                for _ in 0..<2000 {
                    target.tickets.add()
                    apns_reactor_wake(target.reactor)
                }
            }
        }
        // What a thread stored before a wake is visible after the event of the wake. This includes the last one.
        while target.tickets.value < 8000 {
            try #require(loop.wait().map(\.kind) == [APNS_REACTOR_WOKEN])
        }
        for waker in wakers {
            waker.join()
        }
        // The last wakes may arrive after the last ticket was seen.
        _ = loop.wait(timeout: 0)
    }

    @Test("A lingering wait receives many small writes in few receives", arguments: Backend.available)
    func lingering(backend: Backend) throws {
        let loop = try Loop(backend, bufferBytes: 65536)
        let (socket, peer) = try loop.connected(to: Peer.bound())
        let linger: UInt64 = 50_000_000
        // A byte is available from the beginning, but the wait continues until its linger time is over.
        try peer.write([0])
        let start = loop.now
        let writer = Worker {
            for index in 1..<1000 {
                try? peer.write([UInt8(index & 0xff)])
            }
        }
        var receives = 0
        var waits: UInt64 = 0
        var bytes: [UInt8] = []
        while bytes.count < 1000 {
            let events = loop.wait(linger: linger, batch: UInt32.max)
            try #require(!events.isEmpty && events.allSatisfy { $0.socket == socket })
            waits += 1
            receives += events.count
            bytes += events.flatMap(\.bytes)
            #expect(loop.now - start >= waits * linger)
        }
        writer.join()
        #expect(bytes == (0..<1000).map { UInt8($0 & 0xff) })
        #expect(receives <= 20)
    }

    @Test("A full batch ends the lingering", arguments: Backend.available.filter { $0 != .epoll })
    func fullBatch(backend: Backend) throws {
        let loop = try Loop(backend)
        let listener = try Peer.bound()
        let pairs = try (0..<5).map { _ in try loop.connected(to: listener) }
        for pair in pairs {
            try pair.peer.write([1])
        }
        let start = loop.now
        let events = loop.wait(linger: Loop.patience, batch: 5)
        #expect(loop.now - start < Loop.patience)
        #expect(Set(events.map(\.socket)) == Set(pairs.map(\.socket)))
    }

    @Test("Events beyond the capacity come with the next waits", arguments: Backend.available)
    func capacity(backend: Backend) throws {
        let loop = try Loop(backend, sockets: 16)
        let (_, port) = try loop.listen()
        let peers = try (0..<10).map { _ in try Peer.connected(port: port) }
        for peer in peers {
            try peer.write([1])
            peer.endWriting()
        }
        loop.wake()
        let events = try loop.events(capacity: 1) { $0.count == 10 + 10 + 10 + 1 }
        #expect(events.count { $0.kind == APNS_REACTOR_ACCEPTED } == 10)
        #expect(events.count { $0.kind == APNS_REACTOR_RECEIVED && $0.length == 1 } == 10)
        #expect(events.count { $0.kind == APNS_REACTOR_RECEIVED && $0.length == 0 } == 10)
        #expect(events.count { $0.kind == APNS_REACTOR_WOKEN } == 1)
        #expect(loop.wait(timeout: 0).isEmpty)
    }

    @Test("A wait without space for an event is refused", arguments: Backend.available)
    func noRoom(backend: Backend) throws {
        let loop = try Loop(backend)
        var options = apns_reactor_wait_options(timeout_ns: 0, linger_ns: 0, batch_min: 0, reserved: 0)
        #expect(apns_reactor_wait(loop.reactor, &options, nil, 0) == -EINVAL)
    }

    @Test("A signal ends a wait without an error", arguments: Backend.available)
    func signal(backend: Backend) async {
        await #expect(processExitsWith: .success) { [backend] in
            let loop = try Loop(backend)
            Glibc.signal(SIGUSR1) { _ in }
            // The threads of the pool block this signal.
            var unblocked = sigset_t()
            sigaddset(&unblocked, SIGUSR1)
            pthread_sigmask(SIG_UNBLOCK, &unblocked, nil)
            let waiting = Thread(id: pthread_self())
            let over = Counter()
            let sender = Worker {
                while over.value == 0 {
                    pthread_kill(waiting.id, SIGUSR1)
                    sched_yield()
                }
            }
            let events = loop.waitOnce(timeout: UInt64.max, linger: 0, batch: 1, capacity: 8)
            over.add()
            sender.join()
            precondition(events.isEmpty)
        }
    }
}

/// A thread to which a signal can be sent.
struct Thread: @unchecked Sendable {
    let id: pthread_t
}

/// A reactor that is passed to a thread which may only wake it.
struct Target: @unchecked Sendable {
    let reactor: OpaquePointer
    let tickets = Counter()
}
