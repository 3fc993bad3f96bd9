extension FieldFault {
    /// The rule that is broken.
    package var rule: Rule {
        switch self {
        case .pushTypeUnknown: .pushType
        case .topicEmpty, .topicTooLong, .topicCharacter: .topic
        case .priorityUnknown: .priority
        case .priorityNotAllowed(let type, _): type == .background ? .priorityBackground : .priority
        case .expirationNotANumber, .expirationTooLate, .expirationTooLong, .expirationMissing: .expiration
        case .channelID, .channelIDTooLong: .channelID
        case .messageID: .apnsID
        case .collapseIDEmpty, .collapseIDTooLong, .collapseIDCharacter, .collapseIDBlank: .collapseID
        }
    }
}

extension DeviceTokenFault {
    /// The rule that is broken.
    package var rule: Rule { .deviceToken }
}
