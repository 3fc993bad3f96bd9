import ArgumentParser

/// Flags by the names of their properties, so that none has to be copied by hand into the settings.
struct FlagValues {
    private(set) var values: [String: JSONValue] = [:]

    init(_ flags: some Encodable) throws { add(try JSONValue(of: flags)) }

    /// Groups of flags are taken apart; what was not given is left out.
    private mutating func add(_ value: JSONValue) {
        guard case .members(let members) = value else { return }
        for (name, member) in members {
            switch member {
            case .null, .list([]): break
            case .members: add(member)
            default: values[name] = member
            }
        }
    }

    /// As settings.
    var settings: CampaignSettings {
        get throws {
            var values = values
            values["stopAt"] = try shares()
            values["resultColumns"] = columns
            return try CampaignSettings(values)
        }
    }

    /// The names of `--result-columns`, which are one text there.
    private var columns: JSONValue? {
        guard case .text(let text)? = values["resultColumns"] else { return nil }
        return .list(text.split(separator: ",", omittingEmptySubsequences: false).map { .text(String($0)) })
    }

    /// `REASON=SHARE` of each `--stop-at`, by reason.
    private func shares() throws -> JSONValue? {
        guard case .list(let list)? = values["stopAt"] else { return nil }
        var shares: [String: JSONValue] = [:]
        for case .text(let text) in list {
            guard let sign = text.lastIndex(of: "=") else {
                throw UsageError("--stop-at: expected REASON=PERCENT% or REASON=never, found \"\(text)\"")
            }
            shares[String(text[..<sign])] = .text(String(text[text.index(after: sign)...]))
        }
        return .members(shares)
    }
}

extension Option: @retroactive Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(wrappedValue)
    }
}

extension OptionGroup: @retroactive Encodable where Value: Encodable {
    public func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
}
