import Testing

/// What the parser, and what is around it, say of arguments.
@Suite struct ArgumentTests {
    @Test(arguments: [
        (["sned", "x.yaml"], "unknown command \"sned\"; did you mean send?; see apns-batch -h"),
        (["channels", "crate"], "unknown command \"crate\"; did you mean create?; see apns-batch channels -h"),
        ([], "no command: expected one of run, send, "), (["channels"], "no command: expected one of create, "),
        (["--"], "no command: expected one of run, "),
        (["channels", "--"], "no command: expected one of create, "),
        (["sned", "-h"], "unknown command \"sned\"; did you mean send?; see apns-batch -h"),
        (["help", "sned"], "unknown command \"sned\"; did you mean send?; see apns-batch -h"),
        (["help", "channels", "x"], "unknown command \"x\"; see apns-batch channels -h"),
        (["help", "send", "x"], "help: apns-batch send has no command \"x\""),
    ])
    func `what is no command is an error, and never help and 0`(arguments: [String], message: String) {
        let judged = Judged(arguments)
        #expect(judged.code == 64 && judged.text.hasPrefix(message), "\(judged)")
    }

    @Test func `an unknown flag is named, with the help of its command`() {
        let judged = Judged(["send", "--inptu", "rows.csv"])
        #expect(judged.code == 64 && judged.lines.count == 2, "\(judged)")
        #expect(judged.text.hasPrefix("unknown option '--inptu'"), "\(judged)")
        #expect(judged.lines.last == "see apns-batch send --help", "\(judged)")
    }

    @Test(arguments: [["-q", "--quiet"], ["-qq"], ["--rate=5/s", "--rate", "6/s"]])
    func `a flag under both of its names, and with an equals sign, counts as one`(twice: [String]) {
        let judged = Judged(["send", "--input", "rows.csv"] + twice)
        #expect(judged.code == 64 && judged.text.contains(": is given twice"), "\(judged)")
    }

    @Test(arguments: [
        ("render", ["--rows", "-1"], "--rows: expected 0 or more, found -1"),
        ("render", ["--lanes", "-1"], "--lanes: expected 1 to 256, found -1"),
        ("render", ["--rate", "-1/s"], "--rate: expected a rate such as"),
        // Another flag is no value.
        ("render", ["--rows", "-q"], "missing value"),
        ("render", ["--row", "1", "--rows", "2"], "--row and --rows: give one of them"),
        ("render", ["--row", "0"], "--row: expected 1 or more, found 0"),
    ])
    func `a negative number is a value, and the values that there are are named`(
        command: String, flags: [String], says: String
    ) throws {
        let place = try Place()
        let judged = Judged(
            [command, "--input", place.path("rows.csv"), "--template", place.path("t.json"), "--to", "simulator"]
                + flags)
        #expect(judged.code == 64 && judged.text.contains(says), "\(judged)")
    }

    @Test(arguments: [
        (["--stop-at", "any=5%", "--stop-at", "any=9%"], "--stop-at: \"any\" is given twice"),
        (["--input", ""], "--input: expected a path, found an empty text"),
        (["--key-file", ""], "--key-file: expected a path, found an empty text"),
        (["--input", "-"], "--input: standard input (-) cannot be one of several inputs"),
    ])
    func `a reason whose share is given twice, or a path that cannot be meant, is an error`(
        more: [String], message: String
    ) throws {
        let place = try Place()
        let judged = Judged(
            ["render", "--input", place.path("rows.csv"), "--template", place.path("t.json")] + more)
        #expect(judged.code == 64 && judged.text == message, "\(judged)")
    }

    @Test(arguments: [
        ("--environment=test", "Please provide one of 'production' and 'sandbox'"),
        ("--certificate-fault=x", "Please provide one of 'none', 'answer' or 'goaway'"),
        (
            "--provider-key=a:b",
            "--provider-key: expected FILE, FILE:KEYID:TEAMID or FILE:KEYID:TEAMID:TOPICS, found \"a:b\""
        ),
        ("--provider-key=/nonexistent/key:A:B", "/nonexistent/key"),
        ("--client-ca=/nonexistent/ca.pem", "/nonexistent/ca.pem"),
        ("--channel-limit=-1", "channelsMaximum: expected 0 or more, found -1"),
        ("--token-lifetime=-1", "tokenLifetime: expected 0 to 4294967296 seconds, found -1"),
    ])
    func `wrong usage of the simulator`(argument: String, says: String) throws {
        let place = try Place()
        let judged = Judged(["simulate", "--port", "0", "--directory", place.path("made"), argument])
        #expect(judged.code == 64 && judged.text.contains(says), "\(judged)")
    }
}
