import APNSBatch
import APNSBatchBasics
import APNSBatchWebhooks
import Foundation

/// The receivers of the events of a campaign.
extension Setting {
    static let webhooks: [Setting] = [
        Setting(
            "webhooks", .records(endpoint), scope: .secret, parts: .refused, standard: "none", hasFlag: false,
            "Endpoints that get the events of the campaign as Standard Webhooks. docs/integrate/webhooks.md describes them."
        ) { _ = try WebhookEndpoint.all($1) }
    ]

    private static let endpoint: [SettingForm] = [
        SettingForm("urlFile", .path, "File whose first line is the URL."),
        SettingForm("secretFile", .path, "File with a signing secret, whsec_…, in each line."),
        SettingForm(
            "events", .names, standard: "completed, failed, stopped", words: WebhookEvent.Kind.allCases.map(\.rawValue),
            "The events that the endpoint gets."),
        SettingForm("timeout", .whole, standard: "20", "Seconds that a request may take: 1 to 30."),
    ]
}

/// An endpoint of `webhooks`.
struct WebhookEndpoint: Sendable {
    let urlFile: String
    let secretFile: String
    let events: Set<WebhookEvent.Kind>
    /// In seconds.
    let timeout: Int

    static func all(_ value: SettingValue?) throws -> [WebhookEndpoint] {
        try (value?.list ?? []).enumerated().map { index, entry in
            do {
                return try WebhookEndpoint(entry.members ?? [:])
            } catch let error as UsageError {
                throw UsageError("entry \(index + 1): \(error)", cause: error)
            }
        }
    }

    private init(_ members: [String: SettingValue]) throws {
        guard let urlFile = members["urlFile"]?.text else { throw UsageError("url_file is missing") }
        guard let secretFile = members["secretFile"]?.text else { throw UsageError("secret_file is missing") }
        timeout = members["timeout"]?.number ?? 20
        guard OutboxEntry.timeouts.contains(timeout) else {
            throw UsageError("timeout: expected 1 to 30, found \(timeout)")
        }
        let here = FileManager.default.currentDirectoryPath
        self.urlFile = CampaignSettings.path(urlFile, from: here)
        self.secretFile = CampaignSettings.path(secretFile, from: here)
        events = try members["events"].map(Self.events) ?? Set(WebhookEvent.Kind.standard)
    }

    private static func events(_ value: SettingValue) throws -> Set<WebhookEvent.Kind> {
        let kinds = try value.texts.map { name in
            guard let kind = WebhookEvent.Kind(rawValue: name) else {
                let known = WebhookEvent.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("events: expected some of \(known), found \(name.quoted)")
            }
            return kind
        }
        guard !kinds.isEmpty else { throw UsageError("events: expected at least one, found an empty list") }
        return Set(kinds)
    }

    /// Throws if the files cannot be used.
    func check() throws {
        do {
            _ = try SecretURL.read(urlFile, hasQuery: true, isFirstTime: true)
        } catch {
            throw UsageError("url_file: \(error)", cause: error)
        }
        do {
            SecretFile.exposure(of: secretFile).map { complain("warning: \($0)") }
            _ = try WebhookSecrets(at: secretFile)
        } catch {
            throw UsageError("secret_file: \(error)", cause: error)
        }
    }
}

extension WebhookSecrets {
    /// Reads a file of secrets.
    init(at file: String) throws {
        var bytes = try SecretFile.bytes(of: file)
        defer { bytes.wipe() }
        do {
            try self.init(file: bytes)
        } catch {
            throw UsageError("\(file): \(error)", cause: error)
        }
    }
}
