import APNSBatchBasics
import APNSBatchNotification
import APNSBatchTransport
import Glibc
import Logging

/// What a lane reports about its connections. Never tokens, keys or payloads.
struct LaneLog: Sendable {
    let logger: Logger
    let endpoint: String
    private let notices = Guarded(WaitingNotices())

    init(logger: Logger, endpoint: String) {
        self.logger = logger
        self.endpoint = endpoint
    }

    func ioUringRefused(_ error: Int32) {
        logger.notice("io_uring is not available (\(String(cString: strerror(error)))): using epoll")
    }

    func connected(_ event: EventRecord, _ access: ProviderAccess) {
        logger.info(
            "connected to \(endpoint)\(access.forName): \(event.detailText), \(event.streams_max) streams")
    }

    func goaway(_ event: EventRecord, _ debug: GoAwayDebug, _ access: ProviderAccess) {
        let text =
            switch debug {
            case .empty: "no reason given"
            case .reason(let reason): reason.description
            case .text(let text): text
            }
        // A server may take so many requests of each connection: that is nothing to warn of.
        let level: Logger.Level = if case .empty = debug, event.code == 0 { .info } else { .warning }
        logger.log(
            level: level,
            "GOAWAY from \(endpoint)\(access.forName): code \(event.code), last stream \(event.last_stream): \(text)")
    }

    func settings(_ event: EventRecord, _ access: ProviderAccess) {
        logger.info("\(endpoint)\(access.forName) now allows \(event.streams_max) streams")
    }

    /// Says why the run waits, unless that was said already.
    func waiting(_ reason: CampaignProgress.Waiting, now: UInt64) {
        if notices.withLock({ $0.note(reason, now: now) }) { logger.warning("\(reason)") }
    }

    func silent(_ access: ProviderAccess) {
        logger.warning("closing a connection to \(endpoint)\(access.forName) that does not answer")
    }

    func disconnected(_ event: EventRecord, _ access: ProviderAccess) {
        logger.info("connection to \(endpoint)\(access.forName) ended: \(event.detailText)")
    }

    func failed(_ error: any Error, _ access: ProviderAccess) {
        logger.info("no connection to \(endpoint)\(access.forName): \(error)")
    }

    func refused(_ cause: String, _ access: ProviderAccess) {
        logger.warning("\(endpoint)\(access.forName): new credentials refused (\(cause)); the old ones stay in use")
    }

    func retriesFull(_ rows: Int) {
        logger.warning(
            "\(rows) rows of a lane wait to be sent to \(endpoint) again: the lane takes no new rows until some are done"
        )
    }

    func outage(_ trouble: Outage.Trouble, last: Answer?, _ patience: UInt64, _ access: ProviderAccess) {
        let (first, most) = (Outage.intervalFirst / 1_000_000_000, Outage.intervalMost / 1_000_000_000)
        logger.warning(
            """
            \(endpoint)\(access.forName) \(trouble.text(last: last)): sending single probes, \(first) to \(most) s apart, \
            for up to \(patience / 1_000_000_000) s
            """)
    }

    func outageEnded(_ access: ProviderAccess) {
        logger.warning("\(endpoint)\(access.forName) answers again: sending continues")
    }

    func canaryPassed(_ canary: Canary) {
        logger.info("canary passed: the first \(canary.rows) rows")
    }

    func minted(_ issuer: ProviderToken.Issuer) {
        logger.info("new provider token for \(endpoint): team \(issuer.teamID), key \(issuer.keyID)")
    }
}
