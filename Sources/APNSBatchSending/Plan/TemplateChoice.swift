import APNSBatchBasics
import APNSBatchModel
import APNSBatchNotification

/// The templates of a campaign, and how a row selects one.
struct TemplateChoice: Sendable {
    /// One template, or one for each name; empty if rows have payloads of their own.
    let templates: [PayloadTemplate]
    /// The number of bytes of whitespace in each template's source.
    let blanks: [Int]
    /// Nil if there is at most one template.
    let names: TemplateNames?
    /// The column that selects the template; nil if there is at most one.
    let column: Int?

    init(_ campaign: Campaign, columns: [String], file: String) throws(CampaignError) {
        guard let several = campaign.templates else {
            let template = campaign.template
            templates =
                try template.map { (template) throws(CampaignError) in [try Self.compile(template, columns)] } ?? []
            blanks = template.map { [Self.countBlanks($0.json)] } ?? []
            names = nil
            column = nil
            return
        }
        guard campaign.template == nil else {
            throw CampaignError(.configuration, "there are a template and several templates; give only one of them")
        }
        let ordered = several.templates.sorted { $0.key < $1.key }
        column = try Self.column(several.choice, columns, file: file)
        names = try Self.names(several, ordered.map(\.key))
        blanks = ordered.map { Self.countBlanks($0.value.json) }
        templates = try ordered.map { (entry) throws(CampaignError) in try Self.compile(entry.value, columns) }
    }

    private static func compile(
        _ template: Campaign.Template, _ columns: [String]
    ) throws(CampaignError) -> PayloadTemplate {
        try CampaignError.mapping(.configuration) {
            try PayloadTemplate(json: template.json, columns: columns, file: template.name)
        }
    }

    /// Counts the bytes of whitespace outside of strings.
    private static func countBlanks(_ json: [UInt8]) -> Int {
        var count = 0
        var isInString = false
        var isEscaped = false
        for byte in json {
            if isInString {
                isInString = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if byte == 0x20 || 0x09...0x0A ~= byte || byte == 0x0D {
                count += 1
            }
        }
        return count
    }

    private static func column(
        _ choice: Campaign.Templates.Choice, _ columns: [String], file: String
    ) throws(CampaignError) -> Int {
        if let found = columns.firstIndex(of: choice.column) { return found }
        throw CampaignError(
            .configuration, "\(file):1: templates by \(choice.column) need a column \(choice.column.quoted)")
    }

    private static func names(
        _ several: Campaign.Templates, _ ordered: [String]
    ) throws(CampaignError) -> TemplateNames {
        guard !ordered.isEmpty else {
            throw CampaignError(.configuration, "templates: expected at least one, found none")
        }
        let fallback = several.fallback.map { ordered.firstIndex(of: $0) }
        if case .some(nil) = fallback {
            throw CampaignError(
                .configuration,
                "fallback: no template \((several.fallback ?? "").quoted); there are \(ordered.joined(separator: ", "))"
            )
        }
        if several.choice == .locale && fallback == nil {
            throw CampaignError(
                .configuration,
                "templates by locale need a fallback for other languages: \(ordered.joined(separator: " or "))")
        }
        let names = TemplateNames(
            ordered, matching: several.choice == .locale ? .language : .name, fallback: fallback ?? nil)
        if let (first, second) = names.alike {
            throw CampaignError(.configuration, "templates: \(first.quoted) and \(second.quoted) are the same language")
        }
        return names
    }

    /// The columns that at least one template uses.
    var columnsUsed: Set<Int> { Set(templates.flatMap(\.columnsUsed)) }
}

extension Campaign.Templates.Choice {
    /// The name of the column.
    var column: String {
        switch self {
        case .locale: "locale"
        case .variant: "variant"
        }
    }
}
