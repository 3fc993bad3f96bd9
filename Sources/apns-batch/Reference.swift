import APNSBatch
import ArgumentParser

struct Reference: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reference",
        abstract:
            "Prints hosts, push types, headers, payload keys, rules and reasons of APNs as Markdown.",
        discussion: """
            Example:
              apns-batch reference | less
            """)

    @Flag(help: "Print the settings of a campaign instead, as in docs/campaigns.md.")
    var settings = false

    func run() throws {
        try Output.write(Array((settings ? Setting.markdown : ReferenceTables.markdown).utf8))
        if !Output.isComplete() { throw ExitStatus.interrupted }
    }
}
