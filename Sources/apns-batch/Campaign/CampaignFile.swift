import Yams

/// A campaign file as it was read, with the place of each value for errors about it.
struct CampaignFile {
    let path: String
    /// Relative paths are taken from the file's directory.
    let settings: CampaignSettings
    /// `campaign.yaml:7:11` by key.
    let places: [String: String]

    static func read(_ path: String) throws -> CampaignFile {
        var places: [String: String] = [:]
        let settings = try YAMLFile.decode(CampaignSettings.self, from: path) { root in
            try check(root, path: path)
            for (key, value) in root.mapping ?? [:] {
                if let name = key.string { places[name] = YAMLFile.place(of: value, in: path) }
            }
            return withPropertyNames(root)
        }
        let directory = path.contains("/") ? String(path[..<path.lastIndex(of: "/")!]) : ""
        return CampaignFile(
            path: path, settings: settings.relative(to: directory.isEmpty && path.hasPrefix("/") ? "/" : directory),
            places: places)
    }

    private static func check(_ root: Node, path: String) throws {
        try YAMLFile.checkKeys(of: root, CampaignSettings.keys, path: path)
        if let encryption = root.mapping?["encryption"] {
            try YAMLFile.checkKeys(of: encryption, EncryptionSettings.names, path: path, name: "encryption: ")
        }
        guard let providers = root.mapping?["providers"] else { return }
        for (key, _) in root.mapping ?? [:] {
            guard let name = key.string, CampaignSettings.keysOfOneProvider.contains(name) else { continue }
            throw UsageError("\(YAMLFile.place(of: key, in: path)): \(name): not together with providers")
        }
        guard let entries = providers.sequence else {
            throw UsageError("\(YAMLFile.place(of: providers, in: path)): providers: expected a list")
        }
        for (number, entry) in entries.enumerated() {
            try YAMLFile.checkKeys(of: entry, ProviderSettings.keys, path: path, name: "providers[\(number)]: ")
        }
    }

    /// The same with keys as the settings' properties are called, where keys are names of settings.
    private static func withPropertyNames(_ root: Node) -> Node {
        renamed(root) { key, value in
            switch key {
            case "encryption": renamed(value)
            case "providers":
                value.sequence.map { list in
                    .sequence(.init(list.map { renamed($0) }, list.tag, list.style, list.mark))
                } ?? value
            default: value
            }
        }
    }

    private static func renamed(_ node: Node, _ inner: (String, Node) -> Node = { $1 }) -> Node {
        guard let mapping = node.mapping else { return node }
        let pairs = mapping.map { key, value -> (Node, Node) in
            guard let name = key.string else { return (key, value) }
            return (.scalar(.init(SettingName.property(name), key.tag, .any, key.mark)), inner(name, value))
        }
        return .mapping(.init(pairs, mapping.tag, mapping.style, mapping.mark))
    }
}
