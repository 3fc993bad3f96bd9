import APNSBatch
import Yams

/// A campaign file, with the place of each value for error messages.
struct CampaignFile {
    let path: String
    /// The settings. Relative paths are resolved against the file's directory.
    let settings: CampaignSettings
    /// The place of each setting, such as `campaign.yaml:7:11`, by its name.
    let places: [String: String]

    /// - Throws: `UsageError` with all faults of the file.
    static func read(_ path: String) throws -> CampaignFile {
        let faults = YAMLFaultList(of: path)
        let root = try YAMLFile.compose(path, noting: faults)
        let values = CampaignFileReader(faults: faults).values(of: root, Setting.all.map(\.form))
        var places: [String: String] = [:]
        for setting in Setting.all {
            guard let node = root.mapping?[setting.key] else { continue }
            places[setting.name] = YAMLFile.place(of: node, in: path)
        }
        let settings = CampaignSettings(values)
        if values["providers"] != nil, let own = settings.firstOfProvider,
            let key = root.mapping?.keys.first(where: { $0.string == own.key })
        {
            faults.add("\(own.key): cannot be given together with providers", at: key)
        }
        if !faults.isEmpty { addFaults(of: values, in: root, to: faults) }
        try faults.throwAny()
        return CampaignFile(path: path, settings: relative(settings, to: path), places: places)
    }

    /// The settings of a file that has faults, as far as they can be read. Nil if the file is no mapping, or if those have faults that say
    /// where the history is, and whose.
    static func readable(_ path: String) -> CampaignSettings? {
        let faults = YAMLFaultList(of: path)
        guard let root = try? YAMLFile.compose(path, noting: faults), let mapping = root.mapping else { return nil }
        let values = CampaignFileReader(faults: faults).values(of: root, Setting.all.map(\.form))
        for setting in Setting.all where setting.findsHistory && values[setting.name] == nil {
            if let node = mapping[setting.key], node.null == nil { return nil }
        }
        return relative(CampaignSettings(values), to: path)
    }

    /// Resolves paths against the directory of the file.
    private static func relative(_ settings: CampaignSettings, to path: String) -> CampaignSettings {
        let directory = path.contains("/") ? String(path[..<path.lastIndex(of: "/")!]) : ""
        return settings.relative(to: directory.isEmpty && path.hasPrefix("/") ? "/" : directory)
    }

    /// Adds what is wrong with values of a file that is refused anyway. Those of other files are judged later, because a flag may
    /// replace them.
    private static func addFaults(of values: [String: SettingValue], in root: Node, to faults: YAMLFaultList) {
        var campaign = Campaign(destination: .production, topic: nil, providers: [])
        for setting in Setting.all where !setting.kind.isOfFiles {
            guard let value = values[setting.name], let node = root.mapping?[setting.key] else { continue }
            for fault in setting.applied(value, to: &campaign)?.faults ?? [] { faults.add(fault, at: node) }
        }
        let breaker = campaign.circuitBreaker
        if values["stopMinimum"] == nil { campaign.circuitBreaker.minimum = min(breaker.minimum, breaker.window) }
        for fault in campaign.faults.map(\.description) {
            for setting in Setting.all {
                let name = setting.calledBy ?? setting.key
                guard fault.hasPrefix("\(name): "), let node = root.mapping?[setting.key] else { continue }
                faults.add(setting.key + fault.dropFirst(name.count), at: node)
            }
        }
    }
}

/// Reads settings from the nodes of a campaign file. What cannot be read is left out of the values, and noted as a fault.
private struct CampaignFileReader {
    let faults: YAMLFaultList

    /// - Parameter name: the setting that these keys belong to, such as `providers[0]`; empty for the whole file.
    func values(of node: Node, _ table: [SettingForm], name: String = "") -> [String: SettingValue] {
        guard let mapping = node.mapping else {
            faults.add(name, expected: "keys and values", at: node)
            return [:]
        }
        let known = table.map(\.key)
        for (key, _) in mapping {
            guard let found = text(ofKey: key, name), !known.contains(found), !RepeatedKey.isOne(found) else {
                continue
            }
            faults.add((name.isEmpty ? "" : "\(name): ") + YAMLFile.unknown(key: found, known), at: key)
        }
        var values: [String: SettingValue] = [:]
        for setting in table {
            // A key without a value is ignored.
            guard let child = mapping[setting.key], child.null == nil else { continue }
            let before = faults.count
            let value = value(child, setting, name.isEmpty ? setting.key : "\(name).\(setting.key)")
            if faults.count == before { values[setting.name] = value }
        }
        return values
    }

    private func value(_ node: Node, _ setting: SettingForm, _ name: String) -> SettingValue? {
        switch setting.kind {
        case .number, .whole:
            guard let digits = text(node, name) else { return nil }
            // As flags read it: YAML has octal and other forms of numbers, in which 010 is 8 and 1:30 is 90.
            guard node.int != nil, let number = Int(digits) else { return refused(node, name, "a whole number") }
            return .number(number)
        case .text, .variable, .path: return item(node, setting, name)
        case .pathOrPaths where node.sequence == nil: return item(node, setting, name)
        case .names, .paths, .pathOrPaths, .texts, .command: return list(node, name) { item($0, setting, $1) }
        case .shares, .pathsByName, .textsByName: return members(node, name) { item($0, setting, $1) }
        case .listsByName:
            return members(node, name) { node, name in
                node.sequence == nil ? item(node, setting, name) : list(node, name) { item($0, setting, $1) }
            }
        case .record(let table): return .members(values(of: node, table, name: name))
        case .records(let table): return list(node, name) { .members(values(of: $0, table, name: $1)) }
        }
    }

    /// Returns a text of the setting.
    private func item(_ node: Node, _ setting: SettingForm, _ name: String) -> SettingValue? {
        guard let text = text(node, name) else { return nil }
        guard let fault = setting.fault(in: text) else { return .text(text) }
        faults.add("\(name): \(fault)", at: node)
        return nil
    }

    private func text(ofKey key: Node, _ name: String) -> String? {
        if key.string == nil { faults.add(name, expected: "a name before the colon", at: key) }
        return key.string
    }

    private func text(_ node: Node, _ name: String) -> String? {
        guard let scalar = node.scalar else {
            faults.add(name, expected: "a single value", at: node)
            return nil
        }
        return scalar.string
    }

    private func members(_ node: Node, _ name: String, _ body: (Node, String) -> SettingValue?) -> SettingValue? {
        guard let mapping = node.mapping else { return refused(node, name, "keys and values") }
        return .members(
            mapping.reduce(into: [:]) { members, pair in
                guard let key = text(ofKey: pair.key, name), !RepeatedKey.isOne(key) else { return }
                members[key] = body(pair.value, "\(name).\(key)")
            })
    }

    private func list(_ node: Node, _ name: String, _ body: (Node, String) -> SettingValue?) -> SettingValue? {
        guard let sequence = node.sequence else { return refused(node, name, "a list") }
        let items = sequence.enumerated().map { body($1, "\(name)[\($0)]") }
        return items.contains(nil) ? nil : .list(items.compactMap(\.self))
    }

    private func refused(_ node: Node, _ name: String, _ expected: String) -> SettingValue? {
        faults.add(name, expected: expected, at: node)
        return nil
    }
}

extension SettingForm.Kind {
    /// Whether applying a value reads files that it names.
    fileprivate var isOfFiles: Bool {
        switch self {
        case .path, .pathOrPaths, .paths, .pathsByName: true
        default: false
        }
    }
}
