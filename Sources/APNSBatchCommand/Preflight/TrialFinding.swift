import APNSBatch
import APNSBatchBasics
import ArgumentParser

/// What came of one thing that was tried, as `doctor` and `check --everything` print it.
struct TrialFinding {
    let level: Doctor.Finding.Level
    /// The subject, such as `metrics_listen`.
    let what: String
    let text: String
    /// What to do about it; nil if nothing, or if it is in the text.
    var remedy: String?
    /// What a run would end with because of it.
    var code = ExitCode.success

    init(_ level: Doctor.Finding.Level, _ what: String, _ text: String, remedy: String? = nil) {
        // A setting may hold the secret itself in place of its file.
        (self.level, self.what) = (level, what)
        (self.text, self.remedy) = (Printable.message(text), remedy.map { Printable.message($0) })
        if level == .warning { code = ExitStatus.someRowsLeft }
    }

    /// A run that meets the error of a server ends with 69.
    init(_ finding: Doctor.Finding) {
        self.init(finding.level, finding.what, finding.text, remedy: finding.remedy)
        if level == .error { code = ExitStatus.unavailable }
    }

    /// The findings of an error that a run would throw: one for each fault that it has.
    ///
    /// - Parameter located: Adds the place that a message is about.
    static func all(
        of error: any Error, _ what: String, _ remedy: String?, _ located: (String) -> String
    ) -> [TrialFinding] {
        let faults = ExitStatus.faults(of: error) ?? ["\(error)"]
        return faults.map { fault in
            let text = located(fault)
            let name = "\(what): "
            var finding = TrialFinding(
                .error, what, text.hasPrefix(name) ? String(text.dropFirst(name.count)) : text, remedy: remedy)
            finding.code = ExitStatus.of(error) ?? ExitStatus.usage
            return finding
        }
    }

    /// `error    clock: 900 s behind that of api.push.apple.com:443`, and the remedy below.
    var lines: [String] {
        let level = level.rawValue.padding(to: 9)
        return ["\(level)\(what): \(text)"] + (remedy.map { ["         \($0)"] } ?? [])
    }

    /// One line of JSON.
    var object: String {
        struct Line: Encodable {
            var level: String
            var what: String
            var text: String
            var remedy: String?
        }
        return (try? JSONLine.text(Line(level: level.rawValue, what: what, text: text, remedy: remedy))) ?? "{}"
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
