/// The key that an unknown one most likely means, and where it stands.
enum KeyHint {
    /// For instance `"thread-id"`, or `"thread-id" in aps`; nil if nothing is near.
    static func find(_ name: String, in parent: PayloadKey.Parent, of pushType: PushType) -> String? {
        let dashed = dashed(name)
        let wanted = aliases[dashed] ?? dashed
        let own = names(in: parent, of: pushType)
        if own.contains(wanted) { return "\"\(wanted)\"" }
        for other in [PayloadKey.Parent.aps, .alert, .sound] where other != parent {
            if names(in: other, of: pushType).contains(wanted) { return "\"\(wanted)\" in \(other.path)" }
        }
        return NearestName.find(wanted, in: own).map { "\"\($0)\"" }
    }

    private static func names(in parent: PayloadKey.Parent, of pushType: PushType) -> [String] {
        PayloadKey.all(in: parent).filter { $0.pushType == nil || $0.pushType == pushType }.map(\.name)
    }

    /// `thread_identifier` and `threadIdentifier` as `thread-identifier`.
    private static func dashed(_ name: String) -> String {
        var result = ""
        for letter in name.unicodeScalars {
            switch letter {
            case "_", " ": result += "-"
            case "A"..."Z":
                if let last = result.last, last != "-" { result += "-" }
                result.unicodeScalars.append(Unicode.Scalar(letter.value + 0x20).unsafelyUnwrapped)
            default: result.unicodeScalars.append(letter)
            }
        }
        return result
    }

    /// Names from Apple's classes, and from guides, for what the payload calls otherwise.
    private static let aliases = [
        "thread-identifier": "thread-id", "thread": "thread-id", "category-identifier": "category",
        "target-content-identifier": "target-content-id", "launch-image-name": "launch-image", "message": "body",
        "text": "body", "loc-arg": "loc-args", "localized-key": "loc-key", "sub-title": "subtitle",
    ]
}
