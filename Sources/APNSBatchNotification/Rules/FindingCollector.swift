/// A finding with its place in the payload, before it is known whether it is a template's or a row's.
struct LocatedFinding: Equatable {
    let rule: Rule
    /// From the payload down: `aps`, `alert`, `body`. An element of an array is `[0]`.
    let path: [String]
    let message: String
}

/// Makes words of what the scan finds.
struct FindingCollector: FindingSink {
    let setting: ScanSetting
    private(set) var findings: [LocatedFinding] = []

    init(_ setting: ScanSetting) { self.setting = setting }

    mutating func note(_ rule: Rule, _ place: FoundPlace, _ fault: FoundFault?) {
        let words = RuleWords(setting: setting, place: place)
        findings.append(LocatedFinding(rule: rule, path: words.path, message: words.message(rule, fault)))
    }
}
