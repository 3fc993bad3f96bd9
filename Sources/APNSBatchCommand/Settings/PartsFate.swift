/// What becomes of a setting of a campaign whose rows are sent in parts.
enum PartsFate {
    /// Each part is sent with it.
    case kept
    /// It holds for all parts together: the program that divides the rows keeps it, and gives each part its share.
    case whole
    /// The rows of the parts, their directories and their credentials take its place.
    case replaced
    /// Neither a part nor all parts together can keep it.
    case refused
}

extension Setting {
    /// A setting that is in none of these lists is refused, so that nothing is dropped in silence, and no secret is copied.
    var fateInParts: PartsFate {
        if Self.keptInParts.contains(name) { return .kept }
        if Self.wholeInParts.contains(name) { return .whole }
        return Self.replacedInParts.contains(name) ? .replaced : .refused
    }

    private static let keptInParts: Set<String> = [
        "columns", "only", "template", "templates", "variants", "fallback", "strings", "encryption",
        "topic", "pushType", "priority", "expiration", "collapseId",
        "to", "simulatorScript", "proxy", "proxyPasswordFile", "proxyPasswordEnv", "caFile",
        "onUnknown", "syncInterval", "resultColumns", "reportBy",
        "ramp", "attempts", "retryDelay", "unavailableDelay", "retryAfterMax", "retryRows",
        "stopAt", "stopWindow", "stopMinimum",
        "streams", "loop", "requestTimeout", "answerGathering", "connectPatience", "answerPatience",
        "unavailablePatience", "goawayPatience", "pingAfter", "pingPatience", "tokenMintAfter", "tokenRetireAfter",
    ]
    private static let wholeInParts: Set<String> = [
        "minRows", "notAfter", "rate", "spread", "canary", "canaryMaxRejected", "lanes", "connections",
        "runDir", "name", "nightStarts", "timezone", "campaignId", "report",
    ]
    private static let replacedInParts: Set<String> = [
        "input", "inputCommand", "inputQuery", "inputTimeout", "inputPatience", "spool", "format", "delimiter",
        "escape",
        "zstdWindow",
        "keyFile", "keyId", "teamId", "providerTokenFile", "certificateFile", "certificateKeyFile",
        "keyPassphraseFile", "keyPassphraseEnv",
    ]
}
