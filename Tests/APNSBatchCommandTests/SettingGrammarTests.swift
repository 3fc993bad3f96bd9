#if Configuration
    import APNSBatchModel
    import Configuration
    import Foundation
    import Testing

    @testable import APNSBatch
    @testable import APNSBatchCommand

    /// A value that is given in a campaign file, as a flag or by a configuration reader is one value, and is refused in the same words.
    @Suite struct SettingGrammarTests {
        /// A number or a text of the library, and its row in the command.
        struct Row: Sendable {
            let setting: Setting
            /// Values as they are written; those of lists have one item.
            let examples: [String]
            /// A value that is refused; nil if none is.
            let bad: String?
            let isNumber: Bool
            let isList: Bool
            let value: @Sendable (Campaign) -> [String]?

            init?(_ setting: Setting) {
                self.setting = setting
                let called = setting.key.replacing("_", with: " ")
                if let number = Campaign.Number.all.first(where: { $0.name == called }) {
                    let lowest = number.range.lowerBound
                    examples = setting.name == "priority" ? ["10", "5", "1"] : ["\(lowest)", "\(lowest + 1)"]
                    (bad, isNumber, isList) = ("\(lowest - 1)", true, false)
                    value = { number.value(of: $0).map { ["\($0)"] } }
                } else if let text = Campaign.Text.all.first(where: { $0.name == called }) {
                    examples =
                        text.words + text.furtherExamples
                    bad = text.form == nil && setting.name != "expect" ? nil : "no such"
                    (isNumber, isList) = (false, text.isList)
                    value = { text.texts(of: $0) }
                } else {
                    return nil
                }
            }

            func example(_ round: Int) -> String { examples[round % examples.count] }

            /// The value as YAML, which JSON is.
            func written(_ text: String) throws -> String {
                if isNumber { return text }
                let json = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
                return isList ? "[\(json)]" : json
            }

            func content(_ text: String) -> ConfigContent {
                isNumber ? .int(Int(text)!) : isList ? .stringArray([text]) : .string(text)
            }

            /// The key of a configuration reader.
            var key: AbsoluteConfigKey { AbsoluteConfigKey([setting.name]) }
        }

        private static let rows = Setting.all.compactMap(Row.init)

        private let place: Place

        init() throws { place = try Place() }

        private func file(_ values: [(Row, String)]) throws -> CampaignFile {
            let lines = try values.map { "\($0.setting.key): \(try $0.written($1))\n" }
            return try CampaignFile.read(try place.write(lines.joined(), to: "c.yaml"))
        }

        private func flags(_ values: [(Row, String)]) throws -> CampaignSettings {
            let flags = values.map { "\(SettingName.flag($0.setting.name))=\($1)" }
            return try CampaignFlags.parse(flags).settings
        }

        private func configured(_ values: [(Row, String)]) throws -> Campaign {
            let pairs = values.map { ($0.key, ConfigValue($0.content($1), isSecret: false)) }
            let provider = InMemoryProvider(values: Dictionary(uniqueKeysWithValues: pairs))
            var campaign = try CampaignSettings().only([])
            try SettingReader(reader: ConfigReader(provider: provider)).setValues(in: &campaign)
            return campaign
        }

        @Test func `each number and text of the library is a key of campaign files and a flag`() {
            #expect(Self.rows.count == Campaign.Number.all.count + Campaign.Text.all.count)
            #expect(Self.rows.allSatisfy { $0.setting.hasFlag })
        }

        @Test(arguments: 0..<6)
        func `three ways give one value`(round: Int) throws {
            let values = Self.rows.map { ($0, $0.example(round)) }
            let settings = Self.rows.map(\.setting)
            let configured = try configured(values)
            let ways = [try file(values).settings.only(settings), try flags(values).only(settings)]
            for (row, text) in values where row.setting.isPath {
                // Paths in a file are relative to it.
                let values = ([configured] + ways.reversed()).map { row.value($0) }
                #expect(values == [[text], [text], [place.path(text)]])
            }
            for (row, text) in values where !row.setting.isPath {
                #expect(row.value(configured) != nil, "\(row.setting.key): \(text)")
                for way in ways { #expect(row.value(way) == row.value(configured), "\(row.setting.key): \(text)") }
            }
        }

        @Test func `three ways have one default`() throws {
            let configured = try configured([])
            let plain = try CampaignSettings().only(Self.rows.map(\.setting))
            for row in Self.rows {
                #expect(row.value(configured) == row.value(plain), "\(row.setting.key)")
            }
            for text in Campaign.Text.all {
                guard let standard = text.standard else { continue }
                var campaign = try CampaignSettings().only([])
                try text.set([standard], in: &campaign)
                #expect(text.texts(of: campaign) == [standard], "\(text.name)")
            }
        }

        @Test func `three ways refuse in one sentence`() throws {
            let values = Self.rows.compactMap { row in row.bad.map { (row, $0) } }
            #expect(values.count > 40)
            let ofFile = #expect(throws: UsageError.self) { try file(values) }
            let lines = try #require(ofFile).faults
            let isClosed = { (row: Row) in !row.setting.words.isEmpty && row.setting.otherwise == nil }
            let ofWords = #expect(throws: UsageError.self) { try flags(values.filter { isClosed($0.0) }) }
            let given = try flags(values.filter { !isClosed($0.0) })
            for (row, bad) in values {
                let (key, flag) = (row.setting.key, SettingName.flag(row.setting.name))
                let error = #expect(throws: CampaignError.self) { try configured([(row, bad)]) }
                var said = try #require(error).description
                #expect(said.hasPrefix("\(row.setting.name): expected") || key == "expect", "\(said)")
                said.removeFirst(row.setting.name.count)
                if key == "to" { said = said.replacing("sandbox or", with: "sandbox, simulator or") }
                #expect(lines.contains { $0.hasSuffix(": \(key)\(said)") }, "\(key)\(said)")
                if isClosed(row) {
                    #expect(ofWords?.faults.contains(flag + said) == true, "\(flag)\(said)")
                } else {
                    let fault = #expect(throws: UsageError.self) { try given.only([row.setting]) }
                    #expect(fault?.description == key + said)
                }
            }
        }
    }
#endif
