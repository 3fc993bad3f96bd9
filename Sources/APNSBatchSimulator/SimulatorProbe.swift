import CAPNSTransport

/// An observer of all requests, which may decide how they are treated and answered. The simulator's thread calls it.
package protocol SimulatorProbe: AnyObject, Sendable {
    /// Returns how the next request is treated.
    func fate() -> RequestFate

    /// Returns the answer to a request for this device that passed every check; nil for that of the script.
    func answer(toDevice token: UnsafeRawBufferPointer) -> ChosenAnswer?

    /// Receives a request after it was processed, whether or not its answer is sent.
    func judged(_ request: JudgedRequest)
}

extension SimulatorProbe {
    package func fate() -> RequestFate { .answered }

    package func answer(toDevice token: UnsafeRawBufferPointer) -> ChosenAnswer? { nil }
}

/// How a request is treated.
package enum RequestFate: Sendable, Equatable {
    case answered
    /// The request is not processed, and is reset with REFUSED_STREAM.
    case refused
    /// The request is processed, and RST_STREAM with this code is sent instead of the answer.
    case reset(UInt32)
    /// The request is processed and never answered.
    case forgotten
}

/// The answer of a probe, in place of that of the script.
package struct ChosenAnswer: Sendable, Hashable {
    /// The answer. Its share and its `times` have no meaning here.
    package var rule: SimulatorRule
    /// The time after which it is sent, in nanoseconds, in place of the latency of the script.
    package var delay: UInt64

    package init(_ rule: SimulatorRule, delay: UInt64) {
        (self.rule, self.delay) = (rule, delay)
    }
}

/// A request and its answer. It borrows from the transport, and is valid during the call that gets it.
@safe package struct JudgedRequest {
    let fields: UnsafeBufferPointer<apns_transport_field>
    /// The device token in the path, in lower-case digits; nil if there is no well-formed one.
    package let deviceToken: UnsafeRawBufferPointer?
    /// The part of the body that was kept, which is at least the first 5,120 bytes.
    package let body: UnsafeRawBufferPointer
    /// The number of bytes of the whole body.
    package let bodyTotal: Int
    /// The status of the answer.
    package let status: UInt16
    /// The reason in the answer; empty if there is none.
    package let reason: String

    /// Calls `body` with each header field in the order of the request, including pseudo-header fields. Names are in lower
    /// case.
    package func forEachField(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void) {
        for index in unsafe fields.indices {
            let field = unsafe fields[index]
            unsafe body(Bytes(field.name, length: field.name_length), Bytes(field.value, length: field.value_length))
        }
    }
}
