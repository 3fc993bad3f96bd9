import Foundation
import Testing

@testable import APNSBatchSimulator

@Suite struct FaultScriptTests {
    /// Decodes a fault as an entry of a script.
    private static func decode(_ json: String) throws -> SimulatorFault {
        let script = #"{"faults":[{"ignore_pings":true},\#(json)]}"#
        return try JSONDecoder().decode(SimulatorScript.self, from: Data(script.utf8)).faults[1]
    }

    private static func when(_ change: (inout FaultOccasion) -> Void) -> FaultOccasion {
        var when = FaultOccasion()
        change(&when)
        return when
    }

    static let known: [(String, SimulatorFault)] = [
        (
            #"{"when":{"after":500,"every":100,"times":3,"of":"all"},"goaway":{"debug":"x","twice":true,"last_stream":0}}"#,
            SimulatorFault(
                .goaway(
                    {
                        var fault = GoAwayFault()
                        (fault.debug, fault.twice, fault.lastStream) = ("x", true, .number(0))
                        return fault
                    }()), when: .init(after: 500, every: 100, of: .all, times: 3))
        ),
        (
            #"{"goaway":{"code":"ENHANCE_YOUR_CALM","last_stream":"this"}}"#,
            SimulatorFault(
                .goaway(
                    {
                        var fault = GoAwayFault()
                        fault.code = 11
                        return fault
                    }()))
        ),
        (
            #"{"when":{"every":10},"reset":{"code":"REFUSED_STREAM"}}"#,
            SimulatorFault(.reset(.init(code: 7)), when: .init(every: 10))
        ),
        (
            #"{"when":{"every":10},"reset":{"code":0,"answer":"full"}}"#,
            SimulatorFault(.reset(.init(code: 0, answer: .full)), when: .init(every: 10))
        ),
        (
            #"{"when":{"at_byte":20000,"connection_every":2},"abort":"close_notify"}"#,
            SimulatorFault(.abort(.closeNotify), when: when { ($0.atByte, $0.connectionEvery) = (20_000, 2) })
        ),
        (
            #"{"when":{"after_ms":5,"every_ms":10,"from_ms":1,"until_ms":100},"stall":{"side":"reading","ms":50}}"#,
            SimulatorFault(
                .stall(.init(side: .reading, milliseconds: 50)),
                when: when {
                    ($0.afterMilliseconds, $0.everyMilliseconds) = (5, 10)
                    ($0.fromMilliseconds, $0.untilMilliseconds) = (1, 100)
                })
        ),
        (
            #"{"when":{"after":9},"storm":{"status":503,"reason":"Shutdown","retry_after":2,"requests":7}}"#,
            SimulatorFault(
                .storm(.init(status: 503, reason: "Shutdown", retryAfter: 2, requests: 7)), when: .init(after: 9))
        ),
        (#"{"shape":{"form":"padded"}}"#, SimulatorFault(.shape(.init(form: .padded)))),
        (
            #"{"when":{"every":5},"malformed":"hpack_index"}"#,
            SimulatorFault(.malformed(.hpackIndex), when: .init(every: 5))
        ),
        (#"{"flood":{"kind":"ping","count":3}}"#, SimulatorFault(.flood(.init(kind: .ping, count: 3)))),
        (#"{"ignore_pings":true}"#, SimulatorFault(.ignorePings)),
        (#"{"refuse_connects":250}"#, SimulatorFault(.refuseConnects(milliseconds: 250))),
    ]

    @Test(arguments: known)
    func `a fault is read`(json: String, fault: SimulatorFault) throws {
        #expect(try Self.decode(json) == fault)
        #expect(SimulatorScript(faults: [fault]).fault() == nil)
    }

    static let unreadable: [(String, String)] = [
        (#"{"when":{"after":1}}"#, "a fault has exactly one of goaway, reset, abort, stall, settings, storm"),
        (#"{"ignore_pings":true,"abort":"reset"}"#, "found 2"),
        (#"{"ignore_pings":false}"#, "expected true"),
        (#"{"goway":{}}"#, "unknown key \"goway\""),
        (#"{"goaway":{"last":1}}"#, "unknown key \"last\""),
        (#"{"goaway":{"last_stream":"that"}}"#, "expected this or a number, found \"that\""),
        (#"{"reset":{"code":"REFUSED"}}"#, "unknown error code \"REFUSED\""),
        (#"{"when":{"afer":1},"ignore_pings":true}"#, "unknown key \"afer\""),
        (#"{"abort":"now"}"#, "now"),
        (#"{"reset":{"cod":1}}"#, "unknown key \"cod\""), (#"{"stall":{"sides":1}}"#, "unknown key \"sides\""),
        (#"{"settings":{"max_streams":1}}"#, "unknown key \"max_streams\""),
        (#"{"storm":{"status":503,"retry":1}}"#, "unknown key \"retry\""),
        (#"{"shape":{"form":"padded","for":1}}"#, "unknown key \"for\""),
        (#"{"flood":{"kind":"ping","counts":1}}"#, "unknown key \"counts\""), (#"{"goaway":5}"#, "faults"),
    ]

    @Test(arguments: unreadable)
    func `what is misspelt is named`(json: String, message: String) {
        let error = #expect(throws: DecodingError.self) { try Self.decode(json) }
        #expect(String(describing: error).replacingOccurrences(of: "\\", with: "").contains(message))
    }

    static let wrong: [(SimulatorFault, String)] = [
        (.init(.ignorePings, when: .init(after: -1)), "when.after: expected at least 0, found -1"),
        (.init(.ignorePings, when: .init(every: 0)), "when.every: expected at least 1, found 0"),
        (
            .init(.abort(.reset), when: when { ($0.after, $0.atByte) = (1, 1) }),
            "when.after: expected one of requests, milliseconds, bytes sent and bytes received"
        ),
        (
            .init(.abort(.reset), when: when { ($0.atByte, $0.untilMilliseconds) = (1, 1) }),
            "when.of: bytes are those of a connection, at any time"
        ),
        (.init(.ignorePings, when: when { $0.atByte = 1 }), "when: only abort can have at_byte and at_byte_received"),
        (.init(.reset(.init(code: 8))), "when: expected after or every, because this fault needs a request"),
        (.init(.malformed(.hpackIndex)), "when: expected after or every, because this fault needs a request"),
        (
            .init(.stall(.init(side: .both, milliseconds: 0))),
            "stall.ms: expected 1 to 3600000 milliseconds, found 0"
        ),
        (.init(.settings(.init())), "settings.max_concurrent_streams: expected at least one setting"),
        (.init(.storm(.init(status: 99))), "storm.status: expected 200 to 599, found 99"),
        (.init(.flood(.init(kind: .ping, count: 0))), "flood.count: expected 1 to 100000, found 0"),
        (.init(.refuseConnects(milliseconds: 0)), "refuse_connects: expected 1 to 3600000 milliseconds, found 0"),
    ]

    @Test(arguments: wrong)
    func `a value that cannot be is named`(fault: SimulatorFault, message: String) {
        #expect(SimulatorScript(faults: [.init(.ignorePings), fault]).fault() == "faults[1].\(message)")
    }
}
