/// The policy for rows that may have been sent and have no answer, because a connection was lost or the process was killed.
@nonexhaustive
public enum UnknownPolicy: UInt8, Sendable, CaseIterable {
    /// The row is sent again, with the same `apns-id`: delivery at least once.
    case resend = 0
    /// The row ends as ``Outcome/unknown``: delivery at most once.
    case report = 1
    /// The row is sent again if it has a collapse id, so that on the device a second push replaces the first; otherwise it
    /// ends as ``Outcome/unknown``.
    case resendIfCollapsible = 2

    /// Whether a row is sent again.
    package func allowsResending(isCollapsible: Bool) -> Bool {
        switch self {
        case .resend: true
        case .report: false
        case .resendIfCollapsible: isCollapsible
        }
    }

    /// The policy's name in options, such as `resend`.
    public var name: String { ["resend", "report", "resend-if-collapsible"][Int(rawValue)] }

    /// Creates the policy with this ``name``; returns nil if there is none.
    public init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }
}
