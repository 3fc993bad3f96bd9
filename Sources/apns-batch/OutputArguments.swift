import ArgumentParser

/// How much a run says, and in which form.
struct OutputArguments: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Report every connection on standard error.")
    var verbose = false

    @Flag(
        name: .shortAndLong,
        help: "Print errors only, and the account of a run that ends with another code than 0.")
    var quiet = false

    @Flag(help: "Show no progress.")
    var noProgress = false

    @Flag(help: "Print the content of summary.json instead of lines of text.")
    var json = false

    /// A line on standard error that is no error.
    func say(_ text: String) {
        if !quiet { complain(text) }
    }
}
