import APNSBatch
import ArgumentParser

struct Reference: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference",
        abstract:
            "Prints hosts, push types, headers, payload keys, rules and reasons of APNs as Markdown.",
        discussion: """
            Examples:
              apns-batch reference | less
              apns-batch reference --schema > campaign.schema.json
            """)

    @Flag(help: "Print the settings of a campaign instead, as in docs/reference/settings.md.")
    var settings = false

    @Flag(help: "Print the JSON schema of campaign files instead, for editors.")
    var schema = false

    func run() throws {
        if schema, settings { throw try reporting { throw UsageError("--settings and --schema: give one of them") } }
        let text = schema ? try SettingSchema.text() + "\n" : settings ? Setting.markdown : ReferenceTables.markdown
        try Output.write(Array(text.utf8))
        if !Output.isComplete() { throw ExitStatus.interrupted }
    }
}
