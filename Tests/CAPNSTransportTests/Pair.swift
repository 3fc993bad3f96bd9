import CAPNSTransport
import Glibc

/// A client and our own server, which one thread drives alternately.
struct Pair {
    let client: Side
    let server: Side
    let connection: UInt64

    /// Creates a connection that is up.
    init(_ limits: Limits, streamsMax: UInt32 = 100, serverLimits: Limits? = nil) throws {
        client = try Side(limits)
        server = try Side(serverLimits ?? limits)
        client.define()
        connection = try client.connect(try server.listen(streamsMax: streamsMax))
        let (client, server) = (client, server)
        drive { client.isUp && !server.events(APNS_TRANSPORT_EVENT_ACCEPTED).isEmpty }
    }

    func drive(until done: () -> Bool) {
        CAPNSTransportTests.drive([client, server], until: done)
    }

    var serverConnection: UInt64 { server.events(APNS_TRANSPORT_EVENT_ACCEPTED)[0].connection }
}

/// Polls the sides alternately until `done` returns true, at most for 20 seconds, since the machine may be busy.
func drive(_ sides: [Side], and step: () -> Void = {}, until done: () -> Bool) {
    let end = apns_transport_now_ns(sides[0].handle) + 20_000_000_000
    while !done() && apns_transport_now_ns(sides[0].handle) < end {
        for side in sides {
            side.poll()
        }
        step()
    }
}
