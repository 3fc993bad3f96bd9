extension PayloadScan {
    /// What the push type asks for, once all of `aps` is known.
    mutating func judgeContent() {
        if case .free = setting.content { return }
        guard facts.contains(.aps) else { return sink.note(.apsMissing, FoundPlace(parent: .payload), nil) }
        switch setting.content {
        case .visible: if !facts.contains(.shows) { tell(.alertNothingToShow) }
        case .silent: judgeSilent()
        case .contentChanged: if !facts.contains(.contentChanged) { tell(.contentChangedMissing, "content-changed") }
        case .activity: judgeActivity()
        case .free: break
        }
    }

    private mutating func judgeSilent() {
        if facts.contains(.alert) { tell(.backgroundShows, "alert") }
        if facts.contains(.badge) { tell(.backgroundShows, "badge") }
        if facts.contains(.sound) { tell(.backgroundShows, "sound") }
        if !facts.contains(.contentAvailable) { tell(.backgroundContentAvailable, "content-available") }
    }

    private mutating func judgeActivity() {
        if !facts.contains(.timestamp) { tell(.timestampMissing, "timestamp") }
        if !facts.contains(.event) { tell(.eventMissing, "event") }
        if facts.contains(.start), setting.isBroadcast { return tell(.broadcastStart, "event") }
        if facts.isDisjoint(with: [.contentState, .end]) { tell(.contentStateMissing, "content-state") }
        guard facts.contains(.start) else { return }
        if !facts.contains(.attributesType) { tell(.startAttributes, "attributes-type") }
        if !facts.contains(.attributes) { tell(.startAttributes, "attributes") }
        if !facts.contains(.alert) { tell(.startAlert, "alert") }
    }

    private mutating func tell(_ rule: Rule, _ key: StaticString? = nil) {
        let name = key.map { UnsafeBufferPointer(start: $0.utf8Start, count: $0.utf8CodeUnitCount) }
        sink.note(rule, FoundPlace(parent: .aps, key: name), nil)
    }
}
