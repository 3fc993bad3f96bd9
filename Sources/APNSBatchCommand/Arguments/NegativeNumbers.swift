/// Negative numbers as values of flags.
enum NegativeNumbers {
    /// Returns the arguments with `--rows=-1` in place of `--rows -1`. The parser takes `-1` for a flag otherwise and reports that the value is
    /// missing, and not which values there are.
    static func joined(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.count
        var result: [String] = []
        for argument in arguments[..<end] {
            if let flag = result.last, takesValue(flag), isNegative(argument) {
                result[result.count - 1] = "\(flag)=\(argument)"
            } else {
                result.append(argument)
            }
        }
        return result + arguments[end...]
    }

    private static func takesValue(_ flag: String) -> Bool { flag.hasPrefix("--") && !flag.contains("=") }

    private static func isNegative(_ text: String) -> Bool {
        text.hasPrefix("-")
            && text.utf8.dropFirst().first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } == true
    }
}
