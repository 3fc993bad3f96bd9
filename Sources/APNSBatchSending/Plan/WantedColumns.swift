import APNSBatchModel
import APNSBatchNotification

/// The columns that a campaign can use, for inputs whose rows name their fields and may leave any of them out.
enum WantedColumns {
    static func of(_ campaign: Campaign) -> [String] {
        var names = [campaign.recipients.column]
        func add(_ name: String?) {
            guard let name, !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else { return }
            names.append(name)
        }
        let templates = TemplateChoice.ordered(campaign)
        let own = campaign.recipients.areChannels ? ColumnRoles.namesOfBroadcasts : ColumnRoles.names
        // A payload beside a template is refused, unless the template uses it.
        for name in own where name != "payload" || templates.isEmpty { add(name) }
        add(campaign.templates?.choice.column)
        add(campaign.encryption?.keyColumn)
        for name in campaign.resultColumns { add(name) }
        for template in templates {
            addMissing(add) { () throws(TemplateError) in
                _ = try PayloadTemplate(json: template.json, columns: names, file: template.name)
            }
        }
        if let text = campaign.headers.collapseID {
            addMissing(add) { () throws(TemplateError) in
                _ = try TextTemplate(text, columns: names, name: "collapse_id")
            }
        }
        return names
    }

    /// Adds the columns that a template lacks, one after the other. What else is wrong with it is reported when it is compiled.
    private static func addMissing(_ add: (String) -> Void, _ compile: () throws(TemplateError) -> Void) {
        while true {
            do throws(TemplateError) {
                return try compile()
            } catch {
                guard case .unknownColumn(let name, _) = error.cause else { return }
                add(name)
            }
        }
    }
}
