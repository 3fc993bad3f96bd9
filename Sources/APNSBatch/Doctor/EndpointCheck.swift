import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification
import APNSBatchTransport

/// Checks one server: name resolution, network, TLS and clock. It sends a request for `/` without credentials, which reaches
/// no device; any answer of APNs to it has a date.
struct EndpointCheck {
    static let clock = "clock"

    private let endpoint: Doctor.Endpoint
    private let client: RequestClient

    init(_ endpoint: Doctor.Endpoint, client: RequestClient) {
        self.endpoint = endpoint
        self.client = client
    }

    func examine() async -> [Doctor.Finding] {
        let exchange = await client.send(RequestClient.Request(path: "/"))
        return Self.findings(exchange, of: endpoint, through: client.proxy, now: Int64(SystemClock.seconds()))
    }

    /// - Parameters:
    ///   - proxy: The proxy through which the request was made; nil for none.
    ///   - now: The time of the answer, in seconds since 1970-01-01 00:00 UTC.
    static func findings(
        _ exchange: RequestClient.Exchange, of endpoint: Doctor.Endpoint, through proxy: Campaign.Proxy? = nil,
        now: Int64
    ) -> [Doctor.Finding] {
        let host = proxy?.host ?? endpoint.host
        if case .failure(let failure) = exchange.result, failure.kind == .name {
            return [
                .init(
                    .error, "dns \(host)", failure.text,
                    remedy: "check /etc/resolv.conf, and that this machine can resolve public names")
            ]
        }
        var findings = [names(exchange, of: host)] + unreached(exchange)
        findings.append(connection(exchange, of: endpoint, through: proxy))
        if case .success(let response) = exchange.result { findings.append(clock(response, of: endpoint, now: now)) }
        return findings
    }

    private static func names(_ exchange: RequestClient.Exchange, of host: String) -> Doctor.Finding {
        let six = exchange.addresses.filter(\.isIPv6).count
        let four = exchange.addresses.count - six
        let list = exchange.addresses.prefix(4).map(\.description).joined(separator: ", ")
        let more = exchange.addresses.count > 4 ? ", ..." : ""
        return .init(.ok, "dns \(host)", "\(four) IPv4, \(six) IPv6: \(list)\(more)")
    }

    /// Findings about addresses that failed before one answered. Each of them delays every new connection.
    private static func unreached(_ exchange: RequestClient.Exchange) -> [Doctor.Finding] {
        guard exchange.address != nil else { return [] }
        return exchange.failed.map { address, why in
            .init(
                .warning, "connect \(address)", why,
                remedy: address.isIPv6 ? "give this machine an IPv6 route, or remove its IPv6 addresses" : nil)
        }
    }

    private static func connection(
        _ exchange: RequestClient.Exchange, of endpoint: Doctor.Endpoint, through proxy: Campaign.Proxy?
    ) -> Doctor.Finding {
        if let address = exchange.address {
            let way = proxy == nil ? "with \(address)" : "through the proxy \(address)"
            let text = "\(exchange.security), HTTP/2 \(way)"
            guard case .failure(let failure) = exchange.result else { return .init(.ok, "tls \(endpoint.name)", text) }
            return .init(.error, "http \(endpoint.name)", "\(text): \(failure.text)")
        }
        guard case .failure(let failure) = exchange.result else { return .init(.ok, "tls \(endpoint.name)", "") }
        switch failure.kind {
        case .connection where proxy != nil:
            return .init(
                .error, "connect \(endpoint.name)", failure.text,
                remedy:
                    "look at the proxy \(proxy?.description ?? ""): whether it runs, accepts the user, and lets \(endpoint.name) through"
            )
        case .connection:
            return .init(
                .error, "connect \(endpoint.name)", failure.text,
                remedy: "let this machine connect to ports 443 and 2197 of 17.0.0.0/8, the network of APNs")
        case .certificate:
            return .init(
                .error, "tls \(endpoint.name)", failure.text,
                remedy: "a proxy may be intercepting TLS: exempt APNs from it, or trust its CA with --ca-file; "
                    + "otherwise install ca-certificates")
        case .noHTTP2:
            return .init(
                .error, "tls \(endpoint.name)", failure.text,
                remedy: "a proxy between this machine and APNs may not support HTTP/2: exempt APNs from it")
        case .name, .tls, .noAnswer, .local, .cancelled: return .init(.error, "tls \(endpoint.name)", failure.text)
        }
    }

    // MARK: The clock

    /// The limits for a clock that is ahead, in seconds, so that provider tokens seem to be from the future. The tolerance
    /// covers the transmission time of the answer, and the rounding of `date` to a second.
    private static let aheadOK: Int64 = 10
    private static let aheadMax: Int64 = 60
    /// The limits for a clock that is behind, in seconds. A token is used for 52 minutes and refused after an hour, which
    /// leaves 8 minutes.
    private static let behindOK: Int64 = 60
    private static let behindMax: Int64 = 480

    private static func clock(
        _ response: RequestClient.Response, of endpoint: Doctor.Endpoint, now: Int64
    ) -> Doctor.Finding {
        guard let text = response.fields["date"], let theirs = HTTPDate.parse(text) else {
            return .init(
                .warning, clock, "not compared: \(endpoint.name) sends no date header",
                remedy: "make sure that NTP runs on this machine")
        }
        let ahead = now - theirs
        let level: Doctor.Finding.Level =
            if ahead > aheadMax || -ahead > behindMax {
                .error
            } else if ahead > aheadOK || -ahead > behindOK {
                .warning
            } else {
                .ok
            }
        let direction = ahead > 0 ? "ahead of" : "behind"
        let words = abs(ahead) < 2 ? "agrees with that" : "\(abs(ahead)) s \(direction) that"
        return .init(
            level, clock, "\(words) of \(endpoint.name)",
            remedy: level == .ok
                ? nil : "set the clock and run NTP: APNs rejects provider tokens from the future or older than an hour")
    }
}
