#if Configuration
    import APNSBatchModel
    import Configuration

    /// Reads settings by their keys. A key without a value is not an error, a value of a wrong form is: a mistyped limit must not
    /// become the default.
    struct SettingReader {
        let reader: ConfigReader
        /// What precedes the keys in messages, such as `provider.shop.`.
        var prefix = ""

        func scoped(to names: [String]) -> SettingReader {
            SettingReader(
                reader: reader.scoped(to: ConfigKey(names)), prefix: prefix + names.joined(separator: ".") + ".")
        }

        func error(_ key: String, _ text: String) -> CampaignError {
            CampaignError(.configuration, "\(prefix)\(key): \(text)")
        }

        func text(_ key: String, isSecret: Bool = false) throws(CampaignError) -> String? {
            try value(key, "a text") {
                try reader.requiredString(forKey: $0, isSecret: isSecret)
            } other: {
                _ = try reader.requiredInt(forKey: $0, isSecret: isSecret)
            }
        }

        /// The bytes of a secret text.
        func secret(_ key: String) throws(CampaignError) -> [UInt8]? {
            try text(key, isSecret: true).map { Array($0.utf8) }
        }

        func number(_ key: String) throws(CampaignError) -> Int? {
            try value(key, "a whole number") {
                try reader.requiredInt(forKey: $0)
            } other: {
                _ = try reader.requiredString(forKey: $0)
            }
        }

        func flag(_ key: String) throws(CampaignError) -> Bool? {
            try value(key, "true or false") {
                try reader.requiredBool(forKey: $0)
            } other: {
                _ = try reader.requiredString(forKey: $0)
            }
        }

        func texts(_ key: String) throws(CampaignError) -> [String]? {
            try value(key, "a list of texts") {
                try reader.requiredStringArray(forKey: $0)
            } other: {
                _ = try reader.requiredInt(forKey: $0)
            }
        }

        /// - Parameter other: Asks for a value of another type. A key without a value fails then in the same way, and a value of a
        ///   wrong form does not.
        private func value<T>(
            _ key: String, _ expected: String, _ get: (ConfigKey) throws -> T, other: (ConfigKey) throws -> Void
        ) throws(CampaignError) -> T? {
            let name = ConfigKey(key)
            do {
                return try get(name)
            } catch let first {
                do {
                    try other(name)
                } catch let second {
                    if "\(first)" == "\(second)" { return nil }
                }
            }
            throw error(key, "expected \(expected)")
        }
    }
#endif
