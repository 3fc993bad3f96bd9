import APNSBatchBasics
import ArgumentParser

/// The flags of a campaign, which take precedence over its file. Each one is also a key of the file, with `_` for `-`.
///
/// Commands have them as an option group of their own, not within another one: in debug builds the parser checks a group some
/// times for each group around it.
struct CampaignFlags: ParsableArguments {
    static let fileHelp: ArgumentHelp = "Campaign file (YAML). It can set every flag; its paths are relative to it."

    @OptionGroup(title: Setting.groups[0].title) var rows: SettingFlags<0>
    @OptionGroup(title: Setting.groups[1].title) var headers: SettingFlags<1>
    @OptionGroup(title: Setting.groups[2].title) var destination: SettingFlags<2>
    @OptionGroup(title: Setting.groups[3].title) var credentials: CredentialFlags
    @OptionGroup(title: Setting.groups[4].title) var run: SettingFlags<4>
    @OptionGroup(title: Setting.groups[5].title) var policy: SettingFlags<5>
    @OptionGroup(title: Setting.groups[6].title) var connections: SettingFlags<6>
    @OptionGroup(title: Setting.groups[7].title) var night: SettingFlags<7>
    @OptionGroup(title: Setting.groups[8].title) var monitoring: SettingFlags<8>

    /// The flags as settings, which take precedence over those of a file.
    var settings: CampaignSettings {
        get throws {
            let groups = [
                rows.given, headers.given, destination.given, credentials.given, run.given, policy.given,
                connections.given, night.given, monitoring.given,
            ]
            return try CampaignSettings(given: groups.reduce([:]) { $0.merging($1) { $1 } })
        }
    }
}

/// The flags for credentials and trusted certificates, which all commands that connect to APNs have.
typealias CredentialFlags = SettingFlags<3>

/// The flags of one of ``Setting/groups``, by its index.
///
/// The parser finds the flags of a type through its mirror and decodes their values by name. This mirror is made from the
/// table of settings instead of properties.
struct SettingFlags<let group: Int>: ParsableArguments, CustomReflectable {
    /// The values by name. A repeatable flag has a list.
    private(set) var given: [String: SettingValue] = [:]

    init() {}

    private static var settings: [Setting] { Setting.groups[group].settings.filter(\.hasFlag) }

    var customMirror: Mirror { Mirror(self, children: Self.settings.map { ("_" + $0.name, Setting.flags[$0.name]!) }) }

    init(from decoder: any Decoder) throws {
        let flags = try decoder.container(keyedBy: Key.self)
        for setting in Self.settings {
            if setting.isRepeatable {
                let list = try flags.decode(Option<[SettingValue]>.self, forKey: Key(setting.name)).wrappedValue
                if !list.isEmpty { given[setting.name] = setting.kind.value(ofFlags: list) }
            } else {
                given[setting.name] = try flags.decode(Option<SettingValue?>.self, forKey: Key(setting.name))
                    .wrappedValue
            }
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    var settings: CampaignSettings { get throws { try CampaignSettings(given: given) } }
}

extension Setting {
    /// The declarations of the flags for the parser, which asks for them often, by the names of the settings.
    fileprivate static let flags = Dictionary(
        uniqueKeysWithValues: all.filter(\.hasFlag).map { ($0.name, $0.flag) })

    private var flag: any Sendable {
        let help = ArgumentHelp(flagHelp, visibility: isHidden ? .hidden : .default)
        let kind = kind
        let name = NameSpecification.customLong(String(SettingName.flag(self.name).dropFirst(2)))
        if isRepeatable {
            return Option<[SettingValue]>(wrappedValue: [], name: name, help: help, completion: completion) {
                SettingValue.text($0)
            }
        }
        return Option<SettingValue?>(name: name, help: help, completion: completion) { try kind.value(ofFlag: $0) }
    }
}

extension SettingForm.Kind {
    fileprivate func value(ofFlag text: String) throws -> SettingValue {
        switch self {
        case .number, .whole:
            guard let number = Int(text) else { throw UsageError("expected a whole number") }
            return .number(number)
        default: return .text(text)
        }
    }

    /// Returns the value that all flags of a repeatable setting make together.
    fileprivate func value(ofFlags texts: [SettingValue]) -> SettingValue {
        switch self {
        case .pathOrPaths where texts.count == 1: return texts[0]
        case .names:
            let names = texts.compactMap(\.text).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            return .list(names.map { .text(String($0)) })
        default: return .list(texts)
        }
    }
}

extension CampaignSettings {
    /// - Parameter given: values by setting; a setting of kind `shares` has a list of texts `NAME=TEXT`.
    fileprivate init(given: [String: SettingValue]) throws {
        values = given
        var faults: [String] = []
        for setting in Setting.all where setting.hasFlag {
            for fault in setting.form.faults(in: given[setting.name]) {
                faults.append("\(SettingName.flag(setting.name)): \(fault)")
            }
        }
        if !faults.isEmpty { throw UsageError(faults: faults) }
        for (name, value) in given {
            guard case .shares? = Setting.named(name)?.kind else { continue }
            values[name] = .members(
                try value.texts.reduce(into: [:]) { shares, text in
                    guard let sign = text.lastIndex(of: "=") else {
                        throw UsageError(
                            "\(SettingName.flag(name)): expected REASON=PERCENT% or REASON=never, found \(text.quoted)")
                    }
                    let reason = String(text[..<sign])
                    guard shares[reason] == nil else {
                        throw UsageError("\(SettingName.flag(name)): \(reason.quoted) is given twice")
                    }
                    shares[reason] = .text(String(text[text.index(after: sign)...]))
                })
        }
    }
}
