import APNSBatch
import Foundation

/// A POST request to a monitor, made by the program curl: a library that does the same would be loaded, with its libraries,
/// by every run of the command.
struct MonitorRequest {
    let url: String
    let body: String
    /// The time for the request and its answer.
    let timeout: Duration

    enum Answer: Equatable {
        /// The status of the answer.
        case answered(Int)
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
            if let status = Int(output), status > 0 { return .answered(status) }
            return .failed(cause(ending))
        } catch {
            return .failed("the program curl \(error)")
        }
    }

    /// The options of curl. They come on its standard input, because its arguments are seen by everybody on the machine.
    private var configuration: String {
        let options = [
            ("url", url), ("data-raw", body), ("header", "Content-Type: text/plain; charset=utf-8"),
            ("user-agent", "apns-batch/\(ProductVersion.current)"), ("max-time", "\(timeout.components.seconds)"),
            ("output", "/dev/null"), ("write-out", "%{http_code}"), ("proto", "=http,https"),
        ]
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
