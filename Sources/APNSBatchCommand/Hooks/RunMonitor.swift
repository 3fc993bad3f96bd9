import APNSBatch
import Foundation

/// The monitor of `ping_url_file`, such as healthchecks.io, which is notified of the beginning and the end of a run by POST
/// requests. Its URL is a secret, because anyone who has it can make such requests: no message contains it.
struct RunMonitor: Sendable {
    private let url: URLComponents
    /// The time for one request and its answer.
    private let timeout: Duration

    private static let tries = 3
    private static let pause = Duration.seconds(1)

    /// - Parameter file: the path of the file whose first line is the URL.
    init(urlFile file: String, timeout: Duration) throws {
        do {
            url = try SecretURL.read(file, hasQuery: false, isFirstTime: true)
        } catch {
            throw UsageError("ping url file: \(error)", cause: error)
        }
        self.timeout = timeout
    }

    /// Makes a request, and up to two more while it fails and the task is not cancelled. A failure is a warning.
    ///
    /// - Parameters:
    ///   - signal: the last part of the path: `start`, or an exit code.
    ///   - body: text for the people who read the monitor.
    func tell(_ signal: String, body: String = "") async {
        var failure = ""
        for number in 1...Self.tries {
            if number > 1 {
                try? await Task.sleep(for: Self.pause)
                if Task.isCancelled { break }
            }
            switch await request(signal, body).perform() {
            case .answered(200..<300, _): return
            case .answered(let status, _):
                failure = "it answered \(status)"
                // Redirects are not followed, and other refusals will not change.
                if status < 500, status != 429 { return warn(signal, failure) }
            case .failed(let cause): failure = cause
            }
        }
        warn(signal, failure)
    }

    private func warn(_ signal: String, _ failure: String) {
        complain("warning: ping_url_file: the monitor was not told \"\(signal)\": \(failure)")
    }

    private func request(_ signal: String, _ body: String) -> PostRequest {
        var place = url
        place.path = (place.path.hasSuffix("/") ? String(place.path.dropLast()) : place.path) + "/" + signal
        return PostRequest(url: place.string ?? "", body: body, timeout: timeout)
    }
}
