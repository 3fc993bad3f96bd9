import APNSBatchBasics
import APNSBatchCredentials
import APNSBatchModel
import APNSBatchNotification

/// The settings of a campaign's encryption, checked and compiled.
struct SealingPlan: Sendable {
    /// The templates in the order of ``TemplateChoice``.
    let templates: [SealedTemplate]
    /// The column of the recipient's public key.
    let keyColumn: Int
    let cipher: ContentCipher
    let padding: KeyPadding

    /// Returns nil for a campaign without encryption.
    init?(_ campaign: Campaign, columns: [String], file: String) throws(CampaignError) {
        guard let encryption = campaign.encryption else { return nil }
        let templates = TemplateChoice.ordered(campaign)
        guard !templates.isEmpty else {
            throw CampaignError(
                .configuration, "encryption needs a template; rows that bring their own payload have none")
        }
        guard !encryption.keys.isEmpty else {
            throw CampaignError(.configuration, "encryption: expected the keys to encrypt, found none")
        }
        guard let column = columns.firstIndex(of: encryption.keyColumn) else {
            throw CampaignError(
                .configuration,
                "\(file):1: no column \(encryption.keyColumn.quoted) with the recipient's key, which "
                    + "encryption needs; there are \(ColumnNames.list(columns))")
        }
        keyColumn = column
        cipher = encryption.cipher.content
        padding = encryption.padding.key
        self.templates = try templates.map { (template) throws(CampaignError) in
            try Self.compile(template, columns, encryption.keys)
        }
    }

    private static func compile(
        _ template: Campaign.Template, _ columns: [String], _ keys: [String]
    ) throws(CampaignError) -> SealedTemplate {
        try CampaignError.mapping(.configuration) {
            try SealedTemplate(json: template.json, columns: columns, file: template.name, keys: keys)
        }
    }
}

extension TemplateChoice {
    /// The campaign's templates in the order of their numbers.
    static func ordered(_ campaign: Campaign) -> [Campaign.Template] {
        guard let several = campaign.templates else { return campaign.template.map { [$0] } ?? [] }
        return several.templates.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension Campaign.Encryption.Cipher {
    fileprivate var content: ContentCipher {
        switch self {
        case .aes256GCM: .aes256gcm
        case .aes256CBC: .aes256cbc
        }
    }
}

extension Campaign.Encryption.Padding {
    fileprivate var key: KeyPadding {
        switch self {
        case .oaepSHA256: .oaepSHA256
        case .oaepSHA1: .oaepSHA1
        case .pkcs1: .pkcs1
        }
    }
}
