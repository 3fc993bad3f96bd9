import APNSBatchMetrics

/// A request to the endpoint of the metrics, and a file of metrics as somebody's disk gives it back. What was read of the file is
/// written in the same form again, in as many lines.
@Sendable func fuzzMetrics(_ bytes: UnsafeRawBufferPointer) {
    if let question = try? HTTPQuestion(Array(bytes)) {
        precondition(question.path.hasPrefix("/"), "a path of another form")
        _ = MetricText(accept: question.accept)
    }
    let read = LastRun(in: String(decoding: bytes, as: UTF8.self), of: "nightly")
    if read == LastRun() { return }
    let text = written(read)
    precondition(
        text.split(separator: "\n").count == linesWithoutRun + added(read), "other lines than those of its figures")
    precondition(written(LastRun(in: text, of: "nightly")) == text, "written and read again, it is another one")
}

private func written(_ last: LastRun) -> String {
    MetricText.prometheus.text(of: RunMetrics(campaign: "nightly", version: "1", last: last).families)
}

private let linesWithoutRun = written(LastRun()).split(separator: "\n").count

/// The number of reasons that have an outcome other than their usual one, each of which has a line of its own.
private func added(_ last: LastRun) -> Int {
    last.reasons.keys.count { !usualRefusals.contains($0) }
}

/// The reasons in the metrics of no run.
private let usualRefusals = Set(
    RunMetrics(campaign: "nightly", version: "1", last: LastRun()).families
        .first { $0.name == "apns_batch_last_run_reasons" }!.samples.map { sample in
            LastRun.Refusal(outcome: sample.labels[1].value, reason: sample.labels[2].value)
        })
