import APNSBatchBasics

extension Campaign {
    /// A text, or a list of texts, among the settings of a campaign, with its grammar: for programs that read settings from
    /// elsewhere. Each is a key of campaign files, too.
    public struct Text: Sendable {
        /// The name in messages: the key of campaign files, with blanks in place of `_`.
        public let name: String
        /// What is expected, as messages say it, such as `auto, csv or ndjson`; nil if any text is allowed.
        public let form: String?
        /// The fixed words among the texts that are allowed, such as `none`; may be empty.
        public let words: [String]
        /// Whether texts besides ``words`` are allowed.
        public let isOpen: Bool
        /// Whether the setting has a list of texts, and not a single one.
        public let isList: Bool
        /// Whether no message shows the text, because people write secrets into it.
        package let isSecret: Bool
        /// Whether there is no default.
        package let isRequired: Bool
        /// Returns nil where the campaign sets no value that a text can express.
        private let get: @Sendable (Campaign) -> [String]?
        private let put: @Sendable (inout Campaign, [String]) throws -> Void

        /// No value is written like the text.
        private struct NoValue: Error {}

        /// A text from which a value is made, and which is made from the value.
        init<Value>(
            _ name: String, _ path: WritableKeyPath<Campaign, Value> & Sendable, _ form: String?, words: [String] = [],
            isOpen: Bool = true, isSecret: Bool = false, isRequired: Bool = false,
            parse: @escaping @Sendable (String) -> Value?, text: @escaping @Sendable (Value) -> String?
        ) {
            (self.name, self.form, self.words, self.isOpen) = (name, form, words, isOpen)
            (self.isSecret, self.isRequired, isList) = (isSecret, isRequired, false)
            get = { text($0[keyPath: path]).map { [$0] } }
            put = { campaign, texts in
                guard let value = parse(texts.first ?? "") else { throw NoValue() }
                campaign[keyPath: path] = value
            }
        }

        /// One of several words, each of which is a value.
        init<Value: Sendable>(
            _ name: String, _ path: WritableKeyPath<Campaign, Value> & Sendable, of values: [Value],
            by word: @escaping @Sendable (Value) -> String
        ) {
            let words = values.map(word)
            self.init(
                name, path, WordList.text(words), words: words, isOpen: false,
                parse: { text in values.first { word($0) == text } }, text: word)
        }

        /// A text whose value may be nil.
        ///
        /// - Parameter none: The word for nil, with which a later source replaces an earlier value; nil if there is none.
        init<Value>(
            _ name: String, _ path: WritableKeyPath<Campaign, Value?> & Sendable, none: String?, _ form: String?,
            isSecret: Bool = false, parse: @escaping @Sendable (String) -> Value?,
            text: @escaping @Sendable (Value) -> String?
        ) {
            self.init(
                name, path, form, words: none.map { [$0] } ?? [], isSecret: isSecret,
                parse: { $0 == none ? .some(nil) : parse($0).map { .some($0) } },
                text: { $0.map { text($0) } ?? none })
        }

        /// Any text.
        init(_ name: String, any path: WritableKeyPath<Campaign, String?> & Sendable) {
            self.init(name, path, none: nil, nil, parse: { $0 }, text: { $0 })
        }

        /// A list of texts.
        init<Value>(
            _ name: String, list path: WritableKeyPath<Campaign, [Value]> & Sendable,
            parse: @escaping @Sendable (String) throws -> Value, text: @escaping @Sendable (Value) -> String
        ) {
            (self.name, form, words, isOpen, isList) = (name, nil, [], true, true)
            (isSecret, isRequired) = (false, false)
            get = { $0[keyPath: path].map { text($0) } }
            put = { $0[keyPath: path] = try $1.map { try parse($0) } }
        }

        /// The default value; nil where there is none, where it depends on other settings or on the machine, and for lists.
        public var standard: String? {
            guard !isList, !isRequired else { return nil }
            return texts(of: Campaign(destination: .production, topic: nil, providers: []))?.first
        }

        /// Returns the texts that set what a campaign has.
        package func texts(of campaign: Campaign) -> [String]? { self.get(campaign) }

        /// Sets the value in a campaign.
        ///
        /// - Parameter texts: All items of a list, or a single text.
        /// - Throws: ``CampaignError`` with the code ``CampaignError/Code/configuration`` if a text is not in the ``form``; then nothing changes.
        public func set(_ texts: [String], in campaign: inout Campaign) throws(CampaignError) {
            guard isList || texts.count == 1 else {
                throw CampaignError(.configuration, "\(name): expected a single text, found \(texts.count)")
            }
            do {
                try put(&campaign, texts)
            } catch is NoValue {
                throw CampaignError(.configuration, "\(name): \(refusal(of: texts[0]))")
            } catch let error as CampaignError where error.description.hasPrefix("\(name): ") {
                throw error
            } catch {
                throw CampaignError(.configuration, "\(name): \(error)", cause: error)
            }
        }

        private func refusal(of text: String) -> String {
            isSecret ? "expected \(form ?? "")" : WordList.refusal(of: text, expecting: form, words)
        }
    }
}
