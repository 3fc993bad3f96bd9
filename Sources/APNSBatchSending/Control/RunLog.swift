import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import Glibc
import Logging

/// The log messages of a run. They never contain tokens, keys or payloads.
package struct RunLog: Sendable {
    package let logger: Logger
    let endpoint: String
    private let notices = Guarded(WaitingNotices())
    /// The last fatal answer that was logged.
    private let fatal = Guarded("")

    init(logger: Logger, endpoint: String) {
        self.logger = logger
        self.endpoint = endpoint
    }

    func ioUringRefused(_ error: Int32) {
        logger.notice("io_uring is not available (\(String(cString: strerror(error)))): using epoll")
    }

    /// Logs why the run waits, unless that was logged already.
    func waiting(_ reason: CampaignProgress.Waiting, now: UInt64) {
        if notices.withLock({ $0.note(reason, now: now) }) { logger.warning("\(reason)") }
    }

    /// Logs an answer that every notification of a provider gets, unless the last one was the same.
    func fatalAnswer(_ text: String) {
        let isNew = fatal.withLock { last in
            defer { last = text }
            return last != text
        }
        if isNew { logger.error("\(text)") }
    }

    func retriesFull(_ rows: Int) {
        logger.warning(
            "\(rows) rows of a lane wait to be sent to \(endpoint) again: the lane takes no new rows until some are done"
        )
    }

    func canaryPassed(rows: UInt64) {
        logger.info("canary passed: the first \(rows) rows")
    }

    func minted(_ issuer: ProviderToken.Issuer) {
        logger.info("new provider token for \(endpoint): team \(issuer.teamID), key \(issuer.keyID)")
    }
}
