import ArgumentParser

/// How a call treats the history of its campaign.
struct HistoryArguments: ParsableArguments {
    @Flag(
        help:
            "Send the input although it, or another one of this night, was sent before. The run gets a directory of its own."
    )
    var again = false

    @Flag(help: .hidden)
    var part = false

    func applied(to call: CampaignCall) -> CampaignCall {
        var call = call
        (call.again, call.isPart) = (again, part)
        return call
    }
}
