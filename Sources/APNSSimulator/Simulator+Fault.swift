import APNSBatchSimulator

extension Simulator {
    /// Something that goes wrong on purpose: a kind of fault, and the occasion on which it happens.
    ///
    /// ```swift
    /// try await withSimulator(.init(faults: [.goaway(reason: "Shutdown", at: .request(100))])) { simulator in
    ///     campaign.redirect(to: simulator)
    /// }
    /// ```
    public struct Fault: Sendable, Hashable {
        enum Kind: Hashable {
            case goaway(reason: String?, ErrorCode)
            case resetStream(ErrorCode)
            case closeConnection(Closing)
            case stall(Duration?)
            case refuseConnections(Duration)
        }

        let kind: Kind
        let occasion: Occasion

        /// Sends GOAWAY on the connection. Requests that the client has sent before are answered. Those on later streams are not
        /// processed, and the client may send them again elsewhere (RFC 9113, section 6.8).
        ///
        /// - Parameters:
        ///   - reason: The `reason` in the debug data, as APNs sends it; nil for no debug data.
        ///   - code: The error code.
        ///   - occasion: When it happens.
        public static func goaway(
            reason: String? = nil, code: ErrorCode = .noError, at occasion: Occasion
        ) -> Fault {
            Fault(kind: .goaway(reason: reason, code), occasion: occasion)
        }

        /// Sends RST_STREAM in place of the answer. With ``ErrorCode/refusedStream`` the request is not processed. With other codes
        /// it is: the client cannot find out whether the push was accepted.
        ///
        /// - Parameters:
        ///   - code: The error code.
        ///   - occasion: An occasion that counts requests; the one that is counted is reset.
        public static func resetStream(_ code: ErrorCode, at occasion: Occasion) -> Fault {
            Fault(kind: .resetStream(code), occasion: occasion)
        }

        /// Ends the connection, with all requests on it. The one that is counted was processed.
        public static func closeConnection(_ closing: Closing = .reset, at occasion: Occasion) -> Fault {
            Fault(kind: .closeConnection(closing), occasion: occasion)
        }

        /// Neither reads nor writes on the connection.
        ///
        /// - Parameters:
        ///   - time: The time until it continues, from a millisecond to an hour; nil for ever.
        ///   - occasion: When it happens.
        public static func stall(for time: Duration? = nil, at occasion: Occasion) -> Fault {
            Fault(kind: .stall(time), occasion: occasion)
        }

        /// Does not listen: new connections are refused. Those that exist stay.
        ///
        /// - Parameters:
        ///   - time: The time until the simulator listens again, from a millisecond to an hour.
        ///   - occasion: When it happens.
        public static func refuseConnections(for time: Duration, at occasion: Occasion) -> Fault {
            Fault(kind: .refuseConnections(time), occasion: occasion)
        }
    }

    /// The way in which a connection ends.
    @nonexhaustive
    public enum Closing: Sendable, Hashable {
        /// A TCP RST is sent.
        case reset
        /// A TCP FIN is sent, without TLS's close_notify.
        case fin
        /// A fatal TLS alert is sent.
        case alert
        /// TLS's close_notify is sent, without GOAWAY.
        case closeNotify
    }

    /// An error code of HTTP/2 (RFC 9113, section 7).
    public struct ErrorCode: RawRepresentable, Sendable, Hashable {
        /// The number in the frame.
        public var rawValue: UInt32

        /// Makes any number an error code.
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// NO_ERROR: the connection ends in order.
        public static let noError = ErrorCode(rawValue: 0)
        /// PROTOCOL_ERROR: the peer broke a rule.
        public static let protocolError = ErrorCode(rawValue: 1)
        /// INTERNAL_ERROR: the peer failed.
        public static let internalError = ErrorCode(rawValue: 2)
        /// REFUSED_STREAM: the request was not processed.
        public static let refusedStream = ErrorCode(rawValue: 7)
        /// CANCEL: the stream is not needed any more.
        public static let cancel = ErrorCode(rawValue: 8)
        /// ENHANCE_YOUR_CALM: the peer has too much to do.
        public static let enhanceYourCalm = ErrorCode(rawValue: 11)
    }
}

extension Simulator.Fault {
    /// Returns the fault as the script of the server has it.
    ///
    /// - Parameter name: The name of the fault in errors.
    /// - Throws: An error of the code `configuration`.
    func scripted(_ name: String) throws(SimulatorError) -> SimulatorFault {
        if case .resetStream = kind, !occasion.countsRequests {
            throw .configuration("\(name): resetStream needs an occasion that counts requests")
        }
        return SimulatorFault(try kind.scripted(name), when: try occasion.scripted(name))
    }
}

extension Simulator.Fault.Kind {
    fileprivate func scripted(_ name: String) throws(SimulatorError) -> FaultKind {
        switch self {
        case .goaway(let reason, let code):
            // The reason of an answer and that of a GOAWAY are written in the same way.
            if let fault = SimulatorRule(share: 0, status: 500, reason: reason).fault() {
                throw .configuration("\(name): \(fault)")
            }
            return .goaway(GoAwayFault(code: code.rawValue, debug: reason.map { #"{"reason":"\#($0)"}"# } ?? ""))
        case .resetStream(let code): return .reset(ResetFault(code: code.rawValue))
        case .closeConnection(let closing): return .abort(closing.scripted)
        case .stall(let time): return .stall(StallFault(milliseconds: try time?.milliseconds("\(name): time")))
        case .refuseConnections(let time):
            return .refuseConnects(milliseconds: try time.milliseconds("\(name): time"))
        }
    }
}

extension Simulator.Closing {
    fileprivate var scripted: AbortFault {
        switch self {
        case .reset: .reset
        case .fin: .close
        case .alert: .alert
        case .closeNotify: .closeNotify
        }
    }
}
