/// What becomes of a row that may have been sent and has no answer: its connection was lost, or the process was killed.
public enum UnknownPolicy: UInt8, Sendable, CaseIterable {
    /// It is sent again, with the same `apns-id`: at least once.
    case resend = 0
    /// It ends as ``Outcome/unknown``: at most once.
    case report = 1
    /// It is sent again if it has a collapse id, so that a second one replaces the first on the device; else it ends as
    /// ``Outcome/unknown``.
    case resendIfCollapsible = 2

    /// Whether a row is sent again.
    package func allowsResending(isCollapsible: Bool) -> Bool {
        switch self {
        case .resend: true
        case .report: false
        case .resendIfCollapsible: isCollapsible
        }
    }

    /// As options spell it.
    public var name: String { ["resend", "report", "resend-if-collapsible"][Int(rawValue)] }

    /// - Parameter name: as options spell it.
    public init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}
