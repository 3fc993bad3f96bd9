#if Configuration
    import APNSBatchBasics
    import APNSBatchModel

    extension SettingReader {
        /// Sets the numbers of a campaign that have a value. Their keys are those of campaign files.
        ///
        /// - Parameter keys: The keys to read; nil for all.
        func setNumbers(_ keys: Set<String>? = nil, in campaign: inout Campaign) throws(CampaignError) {
            for number in Campaign.Number.all {
                let key = Self.key(number)
                guard keys?.contains(key) ?? true, let value = try self.number(key) else { continue }
                do {
                    try number.set(value, in: &campaign)
                } catch {
                    throw self.error(key, "expected \(number.rangeText), found \(value)")
                }
            }
        }

        /// `retry delay` → `retryDelay`.
        private static func key(_ number: Campaign.Number) -> String {
            let words = number.name.split(separator: " ")
            return words.dropFirst().reduce(into: String(words[0])) { $0 += $1.prefix(1).uppercased() + $1.dropFirst() }
        }

        /// A time that is 0 or more, in milliseconds.
        func milliseconds(_ key: String) throws(CampaignError) -> Duration? {
            guard let number = try number(key) else { return nil }
            guard 0...86_400_000 ~= number else { throw error(key, "expected 0 to 86400000 ms, found \(number)") }
            return .milliseconds(number)
        }

        /// A duration such as `10m`.
        func duration(_ key: String) throws(CampaignError) -> Duration? {
            try parsed(key, "a duration such as 90s, 10m or 2h") { text in
                if case .after(let time)? = Campaign.Expiration(text) { time } else { nil }
            }
        }

        func destination() throws(CampaignError) -> Campaign.Destination {
            let destination = try parsed("to", "production, sandbox or HOST:PORT") { text -> Campaign.Destination? in
                switch text {
                case "production": .production
                case "sandbox": .sandbox
                default: Self.endpoint(text).map { .host($0.host, port: $0.port) }
                }
            }
            guard let destination else { throw error("to", "missing: expected production, sandbox or HOST:PORT") }
            return destination
        }

        private static func endpoint(_ text: some StringProtocol) -> (host: String, port: UInt16)? {
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]), port > 0
            else { return nil }
            var host = text[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = host.dropFirst().dropLast()
            } else if host.contains(":") {
                return nil
            }
            return HostName.fault(host: String(host), port: port) == nil ? (String(host), port) : nil
        }

        /// `proxy`, `http://HOST:PORT` or `http://USER@HOST:PORT`, and `proxyPassword`.
        func proxy() throws(CampaignError) -> Campaign.Proxy? {
            let password = try text("proxyPassword", isSecret: true)
            // The text is not in the error, because it may hold a password.
            guard let text = try text("proxy", isSecret: true) else {
                if password != nil { throw error("proxyPassword", "needs proxy") }
                return nil
            }
            let form = "expected http://HOST:PORT or http://USER@HOST:PORT"
            guard text.hasPrefix("http://") else { throw error("proxy", form) }
            let rest = text.dropFirst(7)
            let parts = rest.split(separator: "@", omittingEmptySubsequences: false)
            guard let place = parts.last.flatMap({ Self.endpoint($0) }), parts.count <= 2 else {
                throw error("proxy", form)
            }
            let user = parts.count == 2 ? String(parts[0]) : nil
            if user?.contains(":") == true { throw error("proxy", "the password belongs in proxyPassword") }
            if user == nil, password != nil { throw error("proxy", "a password is given, but there is no USER@") }
            return .init(host: place.host, port: place.port, user: user, password: password ?? "")
        }

        func rateLimit() throws(CampaignError) -> Campaign.RateLimit {
            .init(
                rate: try parsed("rate", "a rate such as 2000/s, 120000/min or 3000000/h", Campaign.Rate.init),
                ramp: try duration("ramp") ?? .zero)
        }

        func onUnknown() throws(CampaignError) -> UnknownPolicy? {
            try parsed("onUnknown", "resend, report or resend-if-collapsible", UnknownPolicy.init(name:))
        }

        func loop() throws(CampaignError) -> Campaign.Loop? {
            try parsed("loop", "automatic, io_uring or epoll", Campaign.Loop.init)
        }
    }
#endif
