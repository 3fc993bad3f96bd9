import APNSBatchNotification
import Testing

@Suite struct RuleTableTests {
    @Test("Every rule has one row of the table, in order")
    func rows() {
        #expect(RuleRow.all.map(\.rule) == Rule.allCases)
        for rule in Rule.allCases {
            #expect(!rule.about.isEmpty && !rule.about.hasSuffix(".") && !rule.source.isEmpty)
        }
    }

    @Test("A rule's name fits a column of findings and an anchor of the documentation", arguments: Rule.allCases)
    func names(_ rule: Rule) {
        #expect(rule.rawValue.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x2D })
    }

    @Test("Findings that prevent a push are errors, and others are warnings")
    func severities() {
        let warnings = Rule.allCases.filter { $0.severity == .warning }
        #expect(
            warnings == [
                .tokenSize, .duplicateToken, .mutableContentTrue, .duplicateKey, .unknownApsKey, .unknownAlertKey,
                .unknownSoundKey,
                .cardNumber, .suspectText, .nullValue, .startAlert, .topicSuffix, .priorityUnusual, .expirationMissing,
                .expirationUnusual,
                .unusedColumn, .certificateExpiry, .deadlineTooEarly,
            ])
    }

    @Test("A key occurs once in its object, with a note and a source")
    func keys() {
        for parent in PayloadKey.Parent.allCases {
            let keys = PayloadKey.all(in: parent)
            #expect(!keys.isEmpty && Set(keys.map(\.name)).count == keys.count)
            #expect(keys.allSatisfy { !$0.note.isEmpty && !$0.source.isEmpty })
        }
        let legacy = PayloadKey.all.filter(\.isLegacy).map { "\($0.parent.path).\($0.name)" }
        #expect(
            legacy == [
                "aps.summary-arg", "aps.summary-arg-count", "aps.alert.action-loc-key", "aps.alert.action",
                "aps.alert.summary-arg", "aps.alert.summary-arg-count",
            ])
    }

    @Test("The forms of keys are described in words", arguments: PayloadKeyForm.allCases)
    func forms(_ form: PayloadKeyForm) {
        #expect(!form.expectedType().isEmpty && !form.expectedRange.isEmpty)
        #expect((form == .title) == (form.expectedType() != form.expectedType(isLiveActivity: true)))
    }

    @Test(
        "An error in a header names its rule",
        arguments: [
            (FieldFault.pushTypeUnknown, Rule.pushType), (.topicEmpty, .topic), (.topicTooLong(300), .topic),
            (.topicCharacter(at: 1), .topic), (.priorityUnknown, .priority),
            (.priorityNotAllowed(.background, .immediate), .priorityBackground),
            (.expirationNotANumber, .expiration), (.expirationTooLate, .expiration), (.collapseIDEmpty, .collapseID),
            (.collapseIDTooLong(65), .collapseID), (.collapseIDCharacter(at: 1), .collapseID),
            (.collapseIDBlank, .collapseID),
        ])
    func faults(fault: FieldFault, rule: Rule) {
        #expect(fault.rule == rule)
        #expect(DeviceTokenFault.empty.rule == .deviceToken)
    }
}
