import APNSBatch
import APNSBatchBasics
import Foundation

/// A POST request to a monitor or a webhook, made by the program curl: a library that does the same would be loaded, with its
/// libraries, by every run of the command.
struct PostRequest {
    let url: String
    let body: String
    var contentType = "text/plain; charset=utf-8"
    /// Header fields besides those of the body and of curl.
    var fields: [(name: String, value: String)] = []
    /// The time for the request and its answer.
    let timeout: Duration

    enum Answer: Equatable {
        /// The status of the answer, and the seconds of its Retry-After.
        case answered(Int, retryAfter: Int64?)
        /// Why there is none. The text does not contain the URL.
        case failed(String)
    }

    /// Makes the request. Redirects are not followed.
    func perform() async -> Answer {
        // curl ends by itself; the patience is for a curl that does not.
        let program = ChildProgram(
            arguments: ["curl", "--disable", "--config", "-"], environment: ProcessInfo.processInfo.environment,
            patience: timeout + .seconds(5))
        do {
            let (ending, output) = try await program.run(input: configuration)
            // An answer counts from its header on, whatever becomes of its body.
            let parts = output.split(separator: " ", maxSplits: 1)
            if let status = parts.first.flatMap({ Int($0) }), status > 0 {
                return .answered(status, retryAfter: parts.count > 1 ? Self.seconds(String(parts[1])) : nil)
            }
            return .failed(cause(ending))
        } catch {
            return .failed("the program curl \(error)")
        }
    }

    /// Reads a Retry-After: seconds, or a date. A curl before 7.84 prints something else.
    private static func seconds(_ text: String) -> Int64? {
        if let seconds = Int64(text) { return seconds }
        let now = Int64(SystemClock.seconds())
        return HTTPDate.parseAnyForm(text, now: now).map { $0 - now }
    }

    /// The options of curl. They come on its standard input, because its arguments are visible to all users of the machine.
    private var configuration: String {
        let options =
            [
                ("url", url), ("data-raw", body), ("header", "Content-Type: \(contentType)"),
                ("user-agent", "apns-batch/\(ProductVersion.current)"), ("max-time", "\(timeout.components.seconds)"),
                ("output", "/dev/null"), ("write-out", "%{http_code} %header{retry-after}"),
                ("proto", "=http,https"),
            ] + fields.map { ("header", "\($0.name): \($0.value)") }
        return options.map { "\($0) = \(Self.quoted($1))\n" }.joined() + "silent\ngloboff\n"
    }

    /// A value as curl reads it: control characters would end it or be lost.
    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map {
            switch $0 {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            case "\r": "\\r"
            case "\t": "\\t"
            case "\u{0}"..<" ": " "
            default: String($0)
            }
        }
        return "\"\(escaped.joined())\""
    }

    /// The meaning of curl's exit codes, from its manual.
    private func cause(_ ending: ChildProgram.Ending) -> String {
        switch ending {
        case .exited(28), .killedAfterPatience: "no answer within \(timeout.components.seconds) s"
        case .exited(6): "the name of its host is unknown"
        case .exited(7): "its host cannot be connected to"
        case .exited(35), .exited(60): "its certificate is not trusted"
        case .exited(let code): "no answer (exit code \(code) of curl)"
        case .signaled(let signal): "curl was ended by signal \(signal)"
        }
    }
}
