import ArgumentParser

struct MakeSample: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Adds devices with made-up tokens to a database.")

    @Option(help: "The path of the database, which is created if it does not exist.")
    var database: String

    @Option(help: "The number of devices.")
    var rows = 5000

    func validate() throws {
        guard rows >= 0 else { throw ValidationError("--rows: expected 0 or more, found \(rows)") }
    }

    func run() async throws { try await PushDatabase(database).addSample(rows) }
}
