import APNSBatch
import ArgumentParser

/// `apns-batch reference`.
struct Reference: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Prints what APNs takes and answers: hosts, push types, headers, keys, rules and reasons, as Markdown.",
        discussion: """
            Example:
              apns-batch reference | less
            """)

    @Flag(help: "Print the settings of a campaign instead, as they stand in docs/campaigns.md.")
    var settings = false

    func run() throws {
        print(settings ? Setting.markdown : ReferenceTables.markdown, terminator: "")
        if !Output.isComplete() { throw ExitStatus.interrupted }
    }
}
