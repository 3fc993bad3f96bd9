import APNSBatchBasics
import APNSBatchNotification

extension PushType {
    /// The warning about a topic with the suffix of this type for a push of another type.
    func oddTopicMessage(_ topic: String) -> String {
        "topic: \(topic.quoted) has the suffix of push type \(name), but the push has another type"
    }

    /// The error about a push of this type with the wrong kind of credentials.
    var credentialsWanted: String {
        "APNs accepts a push of type \(name) only with a "
            + (rule.authentication == .certificateOnly ? "client certificate" : "provider token")
    }
}
