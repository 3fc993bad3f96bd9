import Credentials

/// What a campaign is, in 32 bytes: what each row becomes and for whom. Two with the same digest send the same for the
/// same input; credentials, connections and patience are not of it.
enum CampaignDigest {
    static func of(_ campaign: Campaign) throws(CampaignError) -> [UInt8] {
        var text: [UInt8] = []
        func add(_ value: some StringProtocol) {
            text += Array(value.utf8)
            text.append(0)
        }
        func add(_ template: Campaign.Template?) {
            add(String(template?.json.count ?? -1))
            text += template?.json ?? []
        }
        add("1 \(campaign.delimiter) \(campaign.recipients)")
        let headers = campaign.headers
        add("\(headers.topic ?? "") \(headers.pushType) \(headers.priority ?? 0)")
        add("\(headers.expiration.map { "\($0)" } ?? "none") \(headers.collapseID ?? "")")
        add(campaign.template)
        if let templates = campaign.templates {
            add("\(templates.choice) \(templates.fallback ?? "")")
            for (name, template) in templates.templates.sorted(by: { $0.key < $1.key }) {
                add(name)
                add(template)
            }
        }
        if let encryption = campaign.encryption { add("\(encryption)") }
        switch campaign.destination {
        case .production, .sandbox: add("\(campaign.destination)")
        case .host: add("host")
        }
        do {
            return try SHA256.digest(text)
        } catch {
            throw CampaignError(.system, "\(error)")
        }
    }
}
