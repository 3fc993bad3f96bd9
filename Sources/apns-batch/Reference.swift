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

    func run() throws {
        print(ReferenceTables.markdown, terminator: "")
        if !Output.isComplete() { throw ExitStatus.interrupted }
    }
}
