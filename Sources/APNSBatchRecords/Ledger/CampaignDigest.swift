import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification

/// A checksum of all settings that determine the notifications, in 32 bytes. Campaigns with the same digest send the same
/// notifications for the same input. Credentials, connections and patience do not count.
///
/// Each group of settings has four bytes, so that messages can name the groups that differ.
package enum CampaignDigest {
    /// The groups in order, with their names in messages and what is in them.
    private static let groups: [(name: String, bytes: @Sendable (Campaign) -> [UInt8])] = [
        ("to", { environment($0.destination) }),
        (
            "recipients, delimiter, escape, columns or only",
            { Array("\($0.recipients) \($0.delimiter)".utf8) + choice($0) }
        ),
        ("topic", { Array(($0.headers.topic ?? "").utf8) }),
        ("push_type or priority", { Array("\($0.headers.pushType.name) \($0.headers.priority?.number ?? 0)".utf8) }),
        ("expiration", { Array(($0.headers.expiration.map(text) ?? "none").utf8) }),
        ("collapse_id", { Array(($0.headers.collapseID ?? "").utf8) }), ("template", templates),
        ("encryption", { Array(($0.encryption.map { "\($0)" } ?? "none").utf8) }),
    ]
    private static let groupLength = LedgerHeader.digestLength / groups.count

    package static func of(_ campaign: Campaign) throws(CampaignError) -> [UInt8] {
        try CampaignError.mapping(.system) {
            try groups.flatMap { try SHA256.digest($0.bytes(campaign)).prefix(groupLength) }
        }
    }

    /// Returns the names of the groups in which two digests differ.
    static func differences(_ one: [UInt8], _ other: [UInt8]) -> [String] {
        groups.enumerated().compactMap { number, group in
            let place = number * groupLength..<(number + 1) * groupLength
            return one[place] == other[place] ? nil : group.name
        }
    }

    /// The groups that distinguish campaigns of one name.
    package static let addressNames = ["to", "topic"]

    /// Returns the names of the groups in which two digests differ, as far as they distinguish campaigns of one name.
    package static func addressDifferences(_ one: [UInt8], _ other: [UInt8]) -> [String] {
        differences(one, other).filter(addressNames.contains)
    }

    /// How quotes are escaped, which columns rows consist of, and which rows are sent; empty for doubled quotes and all. What was read
    /// without a setting for backslashes has none that are anything but text, so that the setting may be given later.
    private static func choice(_ campaign: Campaign) -> [UInt8] {
        var bytes: [UInt8] = []
        func add(_ kind: String, _ texts: [String]) {
            bytes += Array("\(kind) \(texts.count)".utf8) + [0]
            for text in texts { bytes += Array(text.utf8) + [0] }
        }
        if campaign.escape == .backslash { add("escape", ["backslash"]) }
        for (name, source) in campaign.columns.sorted(by: { $0.key < $1.key }) { add("column", [name, source]) }
        for (name, values) in campaign.only.sorted(by: { $0.key < $1.key }) { add("only", [name] + values.sorted()) }
        return bytes
    }

    private static func text(_ expiration: Campaign.Expiration) -> String {
        switch expiration {
        case .at(let seconds): "at(\(seconds))"
        case .after(let time): "after(\(time.seconds))"
        }
    }

    /// A device token belongs to an environment. The port, or another server in place of APNs, does not change a row.
    private static func environment(_ destination: Campaign.Destination) -> [UInt8] {
        Array((apns(destination).map { "\($0)" } ?? "host").utf8)
    }

    /// Nil for another server.
    private static func apns(_ destination: Campaign.Destination) -> APNSHost.Environment? {
        let host = destination.endpoint.0.lowercased()
        return [.production, .sandbox].first { APNSHost.push($0).name == host }
    }

    /// `production`, `sandbox`, or the name of another host.
    package static func environmentName(_ destination: Campaign.Destination) -> String {
        apns(destination).map { "\($0)" } ?? destination.endpoint.0.lowercased()
    }

    @Sendable private static func templates(_ campaign: Campaign) -> [UInt8] {
        var bytes: [UInt8] = []
        func add(_ text: String) { bytes += Array(text.utf8) + [0] }
        func add(_ template: Campaign.Template?) {
            add(String(template?.json.count ?? -1))
            bytes += template?.json ?? []
        }
        add(campaign.template)
        guard let several = campaign.templates else { return bytes }
        add("\(several.choice) \(several.fallback ?? "")")
        for (name, template) in several.templates.sorted(by: { $0.key < $1.key }) {
            add(name)
            add(template)
        }
        return bytes
    }
}
