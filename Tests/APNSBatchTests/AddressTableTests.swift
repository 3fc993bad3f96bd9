import APNSBatchBasics
import APNSBatchTransport
import Testing

@testable import APNSBatchModel
@testable import APNSBatchSending

private let seconds: UInt64 = 1_000_000_000

@Suite("Address table") struct AddressTableTests {
    private static func address(_ text: String) throws -> SocketAddress {
        try #require(try HostResolver.resolve(host: text, port: 443).first)
    }

    private let a: SocketAddress
    private let b: SocketAddress
    private let six: SocketAddress

    init() throws {
        (a, b, six) = (try Self.address("192.0.2.1"), try Self.address("192.0.2.2"), try Self.address("2001:db8::1"))
    }

    @Test("Unused addresses come first, in the resolver's order")
    func unusedFirst() {
        var table = AddressTable([six, a, b])
        #expect((0..<4).map { _ in table.take(now: 0) } == [six, a, b, six])
        table.release(a, failed: false, now: 0)
        #expect(table.take(now: 0) == a)
    }

    @Test("A failed address is avoided for a growing time, until it works again")
    func failures() {
        var table = AddressTable([a, b])
        #expect(table.take(now: 0) == a)
        table.release(a, failed: true, now: 0)
        #expect((0..<2).map { _ in table.take(now: 1 * seconds - 1) } == [b, b])
        #expect(table.take(now: 1 * seconds) == a)
        table.release(a, failed: true, now: 1 * seconds)
        #expect(table.take(now: 3 * seconds - 1) == b)
        #expect(table.take(now: 3 * seconds) == a)
        table.succeeded(a)
        table.release(a, failed: false, now: 4 * seconds)
        #expect(table.take(now: 4 * seconds) == a)
    }

    @Test("When all addresses failed, the one with the shortest remaining time comes first")
    func allFailed() {
        var table = AddressTable([a, b])
        for address in [a, b] { table.release(address, failed: true, now: 0) }
        table.release(a, failed: true, now: 0)
        #expect(table.take(now: 0) == b)
    }

    @Test("A new resolver answer replaces the old one, and connections to removed addresses are still counted")
    func replaced() {
        var table = AddressTable([a])
        #expect(table.take(now: 0) == a)
        table.replace(by: [b])
        #expect(table.count == 1)
        #expect((0..<2).map { _ in table.take(now: 0) } == [b, b])
        table.replace(by: [b, a])
        #expect(table.take(now: 0) == a, "it has one connection, and the other two")
        table.release(b, failed: false, now: 0)
        table.release(six, failed: true, now: 0)
        #expect(table.count == 2)
    }

    @Test("A rival uses the other address family, then another address of the same one")
    func rivals() {
        var table = AddressTable([six, a, b])
        #expect(table.take(against: [six], now: 0) == a)
        #expect(table.take(against: [a], now: 0) == six)
        #expect(table.take(against: [a, six], now: 0) == b)
        #expect(table.take(against: [six, a, b], now: 0) == nil)
        #expect(table.hasOther(than: [six, a]) && !table.hasOther(than: [b, six, a]))
        var four = AddressTable([a, b])
        #expect(four.take(against: [a], now: 0) == b)
    }

    @Test("A rival uses an address of the same family rather than one that failed")
    func rivalAfterFailure() {
        var table = AddressTable([six, a, b])
        table.release(six, failed: true, now: 0)
        #expect(table.take(against: [a], now: 0) == b)
        #expect(table.take(against: [a, b], now: 0) == six)
    }
}

@Suite("Addresses of a run") struct AddressBookTests {
    @Test("The known addresses are used when no resolver thread can be started")
    func noThread() {
        var surroundings = Surroundings.system
        surroundings.resolve = { _, port in try HostResolver.resolve(host: "127.0.0.1", port: port) }
        surroundings.aside = { _, _ in false }
        let book = AddressBook(host: "example.com", port: 443, surroundings: surroundings)
        for second: UInt64 in [0, 5, 10] {
            let ticket = book.ask(now: second * 1_000_000_000)
            #expect(book.hasAnswered(ticket), "after \(second) seconds")
        }
        #expect(book.count == 1)
    }

    @Test("One established connection shows all lanes that the host can be reached")
    func reached() throws {
        var surroundings = Surroundings.system
        surroundings.resolve = { _, port in try HostResolver.resolve(host: "127.0.0.1", port: port) }
        surroundings.aside = { _, _ in false }
        let book = AddressBook(host: "example.com", port: 443, surroundings: surroundings)
        #expect(!book.everReached)
        let address = try #require(book.withTable { $0.take(now: 0) })
        book.succeeded(address)
        #expect(book.everReached)
    }

    @Test("A resolver that fails is asked again, and a failure keeps the known addresses")
    func failsAtFirst() {
        struct Unknown: Error, CustomStringConvertible { let description = "cannot resolve example.com: try again" }
        let asked = Guarded(0)
        var surroundings = Surroundings.system
        surroundings.resolve = { _, port in
            let number = asked.withLock { asked -> Int in
                asked += 1
                return asked
            }
            if number != 3 { throw Unknown() }
            return try HostResolver.resolve(host: "127.0.0.1", port: port)
        }
        surroundings.aside = { _, work in
            work()
            return true
        }
        let book = AddressBook(host: "example.com", port: 443, surroundings: surroundings)
        var failures: [String?] = []
        for second: UInt64 in [0, 2, 4, 6] {
            let ticket = book.ask(now: second * 1_000_000_000)
            #expect(book.hasAnswered(ticket))
            failures.append(book.failure)
        }
        #expect(
            failures == ["cannot resolve example.com: try again", "cannot resolve example.com: try again", nil, nil])
        #expect(book.count == 1)
    }
}
