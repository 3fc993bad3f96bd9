/// Looks over a simulator's shoulder and jogs its elbow: for a simulation, which must know of every request what was
/// received and what was answered.
package protocol SimulatorProbe: AnyObject, Sendable {
    /// What becomes of the next request.
    func fate() -> RequestFate

    /// A request for a device that was judged: processed, whatever becomes of its answer.
    ///
    /// - Parameter status: of the answer. 200: the push is on its way to the device.
    func judged(token: UnsafeRawBufferPointer, status: UInt16)
}

/// What becomes of a request.
package enum RequestFate: Sendable, Equatable {
    case answered
    /// REFUSED_STREAM: it is not looked at.
    case refused
    /// Processed, and then RST_STREAM with that code for an answer.
    case reset(UInt32)
    /// Processed and never answered.
    case forgotten
}
