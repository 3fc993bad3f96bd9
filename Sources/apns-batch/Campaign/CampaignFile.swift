import Yams

/// A campaign file, with the place of each value for error messages.
struct CampaignFile {
    let path: String
    /// The settings. Relative paths are resolved against the file's directory.
    let settings: CampaignSettings
    /// The place of each setting, such as `campaign.yaml:7:11`, by its name.
    let places: [String: String]

    static func read(_ path: String) throws -> CampaignFile {
        let root = try YAMLFile.compose(path)
        let values = try SettingReader(path: path).values(of: root, Setting.all)
        var places: [String: String] = [:]
        for setting in Setting.all {
            guard let node = root.mapping?[setting.key] else { continue }
            places[setting.name] = YAMLFile.place(of: node, in: path)
        }
        let settings = CampaignSettings(values)
        if values["providers"] != nil, let own = settings.firstOfProvider,
            let key = root.mapping?.keys.first(where: { $0.string == own.key })
        {
            throw UsageError(
                "\(YAMLFile.place(of: key, in: path)): \(own.key): cannot be given together with providers")
        }
        let directory = path.contains("/") ? String(path[..<path.lastIndex(of: "/")!]) : ""
        return CampaignFile(
            path: path, settings: settings.relative(to: directory.isEmpty && path.hasPrefix("/") ? "/" : directory),
            places: places)
    }
}

/// Reads settings from the nodes of a campaign file.
private struct SettingReader {
    let path: String

    /// - Parameter name: the setting that these keys belong to, such as `providers[0]`; empty for the whole file.
    func values(of node: Node, _ table: [Setting], name: String = "") throws -> [String: SettingValue] {
        try YAMLFile.checkKeys(of: node, table.map(\.key), path: path, name: name.isEmpty ? "" : "\(name): ")
        var values: [String: SettingValue] = [:]
        for setting in table {
            // A key without a value is ignored.
            guard let child = node.mapping?[setting.key], child.null == nil else { continue }
            values[setting.name] = try value(child, setting.kind, name.isEmpty ? setting.key : "\(name).\(setting.key)")
        }
        return values
    }

    private func value(_ node: Node, _ kind: Setting.Kind, _ name: String) throws -> SettingValue {
        switch kind {
        case .number, .whole:
            _ = try text(node, name)
            guard let number = node.int else { throw unexpected(node, name, "a whole number") }
            return .number(number)
        case .text, .path: return .text(try text(node, name))
        case .pathOrPaths where node.sequence == nil: return .text(try text(node, name))
        case .names, .paths, .pathOrPaths, .texts, .command:
            return .list(try list(node, name) { .text(try text($0, $1)) })
        case .shares, .pathsByName:
            guard let mapping = node.mapping else { throw unexpected(node, name, "keys and values") }
            return .members(
                try mapping.reduce(into: [:]) { members, pair in
                    let key = pair.key.string ?? ""
                    members[key] = .text(try text(pair.value, "\(name).\(key)"))
                })
        case .record(let table): return .members(try values(of: node, table, name: name))
        case .records(let table): return .list(try list(node, name) { .members(try values(of: $0, table, name: $1)) })
        }
    }

    private func text(_ node: Node, _ name: String) throws -> String {
        guard let scalar = node.scalar else { throw unexpected(node, name, "a single value") }
        return scalar.string
    }

    private func list(
        _ node: Node, _ name: String, _ body: (Node, String) throws -> SettingValue
    ) throws -> [SettingValue] {
        guard let sequence = node.sequence else { throw unexpected(node, name, "a list") }
        return try sequence.enumerated().map { try body($1, "\(name)[\($0)]") }
    }

    private func unexpected(_ node: Node, _ name: String, _ expected: String) -> UsageError {
        UsageError(
            "\(YAMLFile.place(of: node, in: path)): \(name): expected \(expected), found \(YAMLFault.shown(node))")
    }
}
