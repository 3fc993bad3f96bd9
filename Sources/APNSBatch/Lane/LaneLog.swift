import APNSProtocol
import LaneTransport
import Logging

/// What a lane reports about its connections. Never tokens, keys or payloads.
struct LaneLog: Sendable {
    let logger: Logger
    let endpoint: String

    func connected(_ event: EventRecord) {
        logger.info("connected to \(endpoint): \(event.detailText), \(event.streams_max) streams")
    }

    func goaway(_ event: EventRecord, _ debug: GoAwayDebug) {
        let text =
            switch debug {
            case .empty: "no reason given"
            case .reason(let reason): reason.rawValue
            case .text(let text): text
            }
        logger.warning("goaway from \(endpoint): code \(event.code), last stream \(event.last_stream): \(text)")
    }

    func disconnected(_ event: EventRecord) {
        logger.info("connection to \(endpoint) ended: \(event.detailText)")
    }

    func failed(_ error: any Error) { logger.warning("no connection to \(endpoint): \(error)") }

    func minted() { logger.info("new provider token for \(endpoint)") }
}
