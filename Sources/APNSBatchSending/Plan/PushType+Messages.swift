import APNSBatchNotification

extension PushType {
    /// What is said of a topic that ends as this type asks, for a push of another.
    func oddTopicMessage(_ topic: String) -> String {
        "topic: \"\(topic)\" ends as a topic of type \(name) does, and the push has another type"
    }

    /// What a push of this type must be sent with.
    var credentialsWanted: String {
        "APNs takes a push of type \(name) only with a "
            + (rule.authentication == .certificateOnly ? "client certificate" : "provider token")
    }
}
