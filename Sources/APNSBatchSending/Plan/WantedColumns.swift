import APNSBatchModel
import APNSBatchNotification
import APNSBatchRows

/// The columns that a campaign can use, for inputs whose rows name their fields and may leave any of them out.
enum WantedColumns {
    /// Several columns may be found at one place.
    static func of(_ campaign: Campaign) -> [JSONColumn] {
        let recipient = campaign.recipients.column
        var names = [recipient]
        func add(_ name: String?) {
            guard let name, !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else { return }
            names.append(name)
        }
        let templates = TemplateChoice.ordered(campaign)
        let own = campaign.recipients.areChannels ? ColumnRoles.namesOfBroadcasts : ColumnRoles.names
        // A payload beside a template is refused, unless the template uses it.
        for name in own where name != "payload" || templates.isEmpty { add(name) }
        let ofHeaders = Set(names).subtracting(
            [recipient, "payload"] + (campaign.headers.topic == nil ? ["topic"] : []))
        add(campaign.templates?.choice.column)
        add(campaign.encryption?.keyColumn)
        for name in campaign.resultColumns { add(name) }
        if campaign.book?.correcting != nil { add(ReturnedLines.rowColumn) }
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
        for name in campaign.columns.keys.sorted() + campaign.only.keys.sorted() { add(name) }
        return names.map { name in
            let source = campaign.columns[name]
            return JSONColumn(
                name, path: source.map(ColumnSource.path), isNeeded: source != nil || !ofHeaders.contains(name))
        }
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
