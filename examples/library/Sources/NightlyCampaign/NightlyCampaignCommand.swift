import ArgumentParser

@main struct NightlyCampaignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nightly-campaign",
        abstract: "Sends a push to every device of a database, once, however often it is interrupted.",
        subcommands: [Send.self, MakeSample.self])
}
