import APNSBatchNotification

extension PushType {
    /// What is said of a topic that ends as this type asks, for a push of another.
    func oddTopicMessage(_ topic: String) -> String {
        "topic: \"\(topic)\" has the suffix of push type \(name), but the push has another type"
    }

    /// What a push of this type must be sent with.
    var credentialsWanted: String {
        "APNs accepts a push of type \(name) only with a "
            + (rule.authentication == .certificateOnly ? "client certificate" : "provider token")
    }
}
