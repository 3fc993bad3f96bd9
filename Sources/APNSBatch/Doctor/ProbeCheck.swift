import APNSBatchNotification

/// Sends a push to a given token in each environment, and concludes which of them the token belongs to.
struct ProbeCheck {
    private let probe: Doctor.Probe
    private var answers: [(environment: Doctor.Endpoint.Environment, answer: Answer)] = []

    init(_ probe: Doctor.Probe) {
        self.probe = probe
    }

    /// What is invalid in the probe itself, so that nothing is sent; nil if it is valid.
    var fault: Doctor.Finding? {
        let token: String? =
            if case .failure(let fault) = path {
                unsafe Array(probe.token.utf8).withUnsafeBytes { unsafe fault.message(for: $0) }
            } else {
                nil
            }
        let topic = unsafe Array(probe.topic.utf8).withUnsafeBytes { bytes in
            unsafe Topic.check(bytes).map { unsafe $0.message(for: bytes) }
        }
        return (token ?? topic).map { .init(.error, "probe", "not sent: \($0)") }
    }

    private var path: Result<String, DeviceTokenFault> {
        var path = [UInt8](repeating: 0, count: DeviceToken.pathLengthMax)
        let fault = unsafe Array(probe.token.utf8).withUnsafeBytes { token in
            unsafe path.withUnsafeMutableBytes { unsafe DeviceToken.writePath(token, to: $0.baseAddress!) }
        }
        if let fault { return .failure(fault) }
        return .success(
            String(decoding: path.prefix(DeviceToken.pathPrefixLength + probe.token.utf8.count), as: UTF8.self))
    }

    /// The request of the probe. With type `background` and priority 5 the device displays nothing, and with expiration 0
    /// nothing is stored while it is offline.
    var request: RequestClient.Request {
        RequestClient.Request(
            method: "POST", path: (try? path.get()) ?? "",
            fields: [
                RequestHeader.topic.field(probe.topic), RequestHeader.pushType.field(PushType.background.name),
                RequestHeader.priority.field(PushType.background.defaultPriority.text),
                RequestHeader.expiration.field("0"),
            ], body: Array(#"{"aps":{"content-available":1}}"#.utf8))
    }

    /// Notes the answer of one environment, and returns a finding about it.
    mutating func judge(
        _ result: Result<RequestClient.Response, RequestClient.Failure>, of endpoint: Doctor.Endpoint
    ) -> Doctor.Finding {
        let what = "probe \(endpoint.environment == .other ? endpoint.name : endpoint.environment.rawValue)"
        switch result {
        case .failure(let failure): return .init(.error, what, failure.text)
        case .success(let response):
            let answer = unsafe response.body.withUnsafeBytes { unsafe Answer(status: response.status, body: $0) }
            answers.append((endpoint.environment, answer))
            if answer.action == .accepted { return .init(.ok, what, "200: the push was accepted") }
            // One of the two environments answers any token like this; `verdict` decides what it means.
            let isStrange = answer.isBadDeviceToken && endpoint.environment != .other
            return .init(isStrange ? .ok : .error, what, answer.explanation, remedy: isStrange ? nil : answer.remedy)
        }
    }

    /// The conclusion from all answers; empty if there is none.
    var verdict: [Doctor.Finding] {
        let token = "token \(probe.token.prefix(8))..."
        let known = answers.filter { $0.environment != .other }
        let homes = known.filter { $0.answer.action == .accepted }.map(\.environment)
        let strangers = known.filter(\.answer.isBadDeviceToken).map(\.environment)
        switch (homes.count, strangers.count) {
        case (1, 1):
            return [.init(.ok, token, "belongs to \(homes[0].rawValue): send to it with --to \(homes[0].rawValue)")]
        case (2, _):
            return [
                .init(
                    .warning, token, "is accepted by both environments",
                    remedy: "check that the two addresses belong to different servers")
            ]
        case (0, 2):
            return [
                .init(
                    .error, token, "belongs to neither environment",
                    remedy: "check that the token is complete, and that topic and credentials belong to its app")
            ]
        case (0, 1):
            return [
                .init(
                    .error, token, "does not belong to \(strangers[0].rawValue)",
                    remedy: KnownReason.badDeviceToken.remedy)
            ]
        default: return []
        }
    }
}

extension Answer {
    fileprivate var isBadDeviceToken: Bool { reason == .known(.badDeviceToken) }
}
