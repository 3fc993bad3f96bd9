#if Configuration
    import APNSBatchModel

    extension SettingReader {
        /// Sets the numbers and texts of a campaign that have a value. Their keys are those of campaign files.
        ///
        /// - Parameter keys: The keys to read; nil for all.
        func setValues(_ keys: Set<String>? = nil, in campaign: inout Campaign) throws(CampaignError) {
            for number in Campaign.Number.all {
                let key = Self.key(number.name)
                guard keys?.contains(key) ?? true, let value = try self.number(key) else { continue }
                try naming(key, number.name) { () throws(CampaignError) in try number.set(value, in: &campaign) }
            }
            for text in Campaign.Text.all {
                let key = Self.key(text.name)
                guard keys?.contains(key) ?? true, let texts = try texts(text, key) else { continue }
                try naming(key, text.name) { () throws(CampaignError) in try text.set(texts, in: &campaign) }
            }
        }

        private func texts(_ text: Campaign.Text, _ key: String) throws(CampaignError) -> [String]? {
            text.isList ? try texts(key) : try self.text(key, isSecret: text.isSecret).map { [$0] }
        }

        /// `retry delay` → `retryDelay`.
        static func key(_ name: String) -> String {
            let words = name.split(separator: " ")
            return words.dropFirst().reduce(into: String(words[0])) { $0 += $1.prefix(1).uppercased() + $1.dropFirst() }
        }

        /// Replaces the name of a setting, with which an error begins, by its key.
        private func naming(
            _ key: String, _ name: String, _ body: () throws(CampaignError) -> Void
        ) throws(CampaignError) {
            do {
                try body()
            } catch let fault {
                let start = name + ": "
                let text = fault.description
                throw error(key, text.hasPrefix(start) ? String(text.dropFirst(start.count)) : text)
            }
        }

        /// A time that is 0 or more, in milliseconds.
        func milliseconds(_ key: String) throws(CampaignError) -> Duration? {
            guard let number = try number(key) else { return nil }
            guard 0...86_400_000 ~= number else { throw error(key, "expected 0 to 86400000 ms, found \(number)") }
            return .milliseconds(number)
        }

        /// Throws if a text is missing that has no default.
        func checkRequired() throws(CampaignError) {
            for required in Campaign.Text.all where required.isRequired {
                let key = Self.key(required.name)
                guard try text(key) == nil else { continue }
                throw error(key, "missing: expected \(required.form ?? "a text")")
            }
        }

        /// Sets the certificates to trust, and the password of the proxy, which no campaign file has.
        func setContents(in campaign: inout Campaign) throws(CampaignError) {
            campaign.authorities = try text("ca").map { Array($0.utf8) } ?? []
            campaign.systemTrust = try flag("systemTrust") ?? campaign.systemTrust
            guard let password = try text("proxyPassword", isSecret: true) else { return }
            if try text("proxy", isSecret: true) == nil { throw error("proxyPassword", "needs proxy") }
            if let proxy = campaign.proxy, proxy.user == nil {
                throw error("proxy", "a password is given, but there is no USER@")
            }
            campaign.proxy?.password = password
        }
    }
#endif
