import Testing

@testable import APNSBatchCommand

/// What is wrong with a campaign, as flags and its files say it.
@Suite struct CampaignUsageTests {
    private let place: Place

    init() throws { place = try Place() }

    /// Judges flags in which these words are names of files.
    private func send(_ flags: [String], _ settings: [String: SettingValue] = [:]) throws -> Judged {
        let files = [
            "ROWS": place.path("rows.csv"), "GOOD": place.path("t.json"),
            "BROKEN": try place.write("{\"aps\": {\"alert\": \"Hi\",}}", to: "broken.json"),
            "COLUMN": try place.write("{\"aps\": {\"alert\": \"Hi {{surname}}\"}}", to: "column.json"),
        ]
        return Judged(.sending, flags: flags.map { files[$0] ?? $0 }, settings)
    }

    @Test(arguments: [
        (["--to", "simulator"], "no input: give --input FILE"),
        (["--input", "ROWS", "--to", "nowhere"], "found \"nowhere\""),
        (
            ["--input", "ROWS", "--to", "simulator", "--proxy", "http://u:p@h:1"],
            "--proxy: expected http://HOST:PORT or http://USER@HOST:PORT; a password is a setting of its own (proxy_password_file)"
        ),
        (["--input", "ROWS", "--to", "localhost:99999"], "99999"),
        (["--input", "ROWS", "--to", "simulator", "--template", "/nonexistent/t.json"], "/nonexistent/t.json"),
        (["--input", "ROWS", "--to", "simulator", "--template", "BROKEN"], "broken.json:"),
        (["--input", "ROWS", "--to", "simulator", "--template", "COLUMN"], "surname"),
        (["--input", "ROWS", "--to", "simulator", "--loop", "kqueue"], "kqueue"),
        (["--input", "ROWS", "--to", "simulator", "--lanes", "0"], "lanes"),
        (["--input", "ROWS", "--to", "production", "--topic", "com.example.app"], "no credentials: give --key-file"),
        (
            [
                "--input", "ROWS", "--to", "production", "--topic", "com.example.app", "--key-file", "BROKEN",
                "--key-id", "ABC123DEFG", "--team-id", "DEF123GHIJ", "--template", "GOOD",
            ], "signing key"
        ),
    ])
    func `wrong usage`(arguments: [String], says: String) throws {
        let judged = try send(arguments)
        #expect(judged.code == 64 && judged.text.contains(says), "\(judged)")
    }

    @Test(arguments: [
        (["--not-after", "soon"], "--not-after: expected a time such as"),
        (["--not-after", "0"], "--not-after: expected a time such as"),
        (["--stop-at", "BadDeviceToken"], "--stop-at: expected REASON=PERCENT% or REASON=never"),
        (["--stop-at", "BadDeviceToken=most"], "--stop-at: expected never, or a share such as 5%, found \"most\""),
        (["--stop-at", "BadToken=5%"], "expected one of APNs's reasons, any or invalid, found \"BadToken\""),
        (["--stop-window", "1"], "--stop-window: expected 10 to 1000000000 answers, found 1"),
        (["--stop-minimum", "0"], "--stop-minimum: expected 1 to 1000000000 answers, found 0"),
        (["--canary", "-1"], "canary"),
        (["--canary", "9", "--canary-max-rejected", "few"], "--canary-max-rejected: expected a share such as 5%"),
        (["--canary-max-rejected", "5%"], "--canary-max-rejected needs --canary"),
        (["--retry-delay", "0"], "--retry-delay: expected 1 to 86400000 ms, found 0"),
        (["--unavailable-delay", "86400001"], "--unavailable-delay: expected 1 to 86400000 ms, found 86400001"),
        (["--retry-after-max", "2592001"], "--retry-after-max: expected at most 2592000 seconds, found 2592001"),
        (["--retry-rows", "0"], "--retry-rows: expected 1 to 1000000, found 0"),
        (["--rate", "2000"], "--rate: expected a rate such as 2000/s"),
        (["--rate", "0/s"], "--rate: expected a rate such as 2000/s"), (["--ramp", "10m"], "--ramp: needs a rate"),
        (["--spread", "5"], "--spread: expected a duration such as"),
    ])
    func `a wrong policy`(arguments: [String], says: String) throws {
        let judged = try send(
            arguments,
            [
                "input": .text(place.path("rows.csv")), "to": .text("simulator"),
                "template": .text(place.path("t.json")),
            ])
        #expect(judged.code == 64 && judged.text.contains(says), "\(judged)")
    }

    @Test(arguments: [
        ("s3://bucket/rows.csv", #"write input_command: [aws, s3, cp, --quiet, "s3://bucket/rows.csv", "-"]"#),
        ("s3a://bucket/rows.csv", #"[aws, s3, cp, --quiet, "s3://bucket/rows.csv", "-"]"#),
        (
            "s3://bucket/night=1/rows.parquet",
            #"write input_query: { engine: duckdb, query: "FROM read_parquet('s3://bucket/night=1/rows.parquet')" }"#
        ),
        ("gs://bucket/rows.csv", #"input_command: [gcloud, storage, cat, "gs://bucket/rows.csv"]"#),
        ("abfss://c@account/rows.csv", "input_command: [az, storage, blob, download, "),
        (
            "https://example.com/rows.csv",
            #"input_command: [curl, --fail, --silent, --show-error, --location, "https://example.com/rows.csv"]"#
        ),
        ("HTTPS://me:word@example.com/rows.csv?sig=word#word", #"found the URL "https://example.com/rows.csv": "#),
        ("file:///rows.csv", "write the path without file://"),
    ])
    func `a URL in place of a path is named, without its secrets`(url: String, says: String) throws {
        let file = try place.write("input: [\"\(url)\"]\n", to: "campaign.yaml")
        let others = ["to": SettingValue.text("simulator"), "template": .text(place.path("t.json"))]
        let flag = Judged(.sending, flags: ["--input", url], others)
        for judged in [flag, Judged(.showing, file: file, others)] {
            #expect(judged.code == 64 && judged.text.contains(says), "\(judged)")
            #expect(!judged.text.contains("word"), "\(judged)")
        }
    }

    @Test func `a campaign file that does not exist`() {
        let judged = Judged(.sending, file: "/nonexistent/campaign.yaml", [:])
        #expect(judged.code == 64 && judged.text.contains("/nonexistent/campaign.yaml"), "\(judged)")
    }

    // MARK: Columns and payloads

    @Test(arguments: [
        ("columns: { token: Adress, user: User.UserId }", "select.yaml:3:10: columns: "),
        (
            "columns: { token: Address, user: User.UserId }\nonly: { Channeltype: APNS }",
            "select.yaml:4:7: only: "
        ),
        (
            "columns: { token: Address, user: User.UserId }\nonly: { ChannelType: [] }",
            "only: ChannelType: expected at least one value"
        ),
        ("columns: [token]", "select.yaml:3:10: columns: expected keys and values"),
        ("only: { a: { b: c } }", "select.yaml:3:12: only.a: expected a single value"),
        ("columns: { token: [a] }", "select.yaml:3:19: columns.token: expected a single value"),
        ("columns: { token: Address }", #"user.json:1:21: unknown column "user""#),
    ])
    func `what is wrong with named columns is said with its place`(settings: String, says: String) throws {
        try place.write(#"{"aps":{"alert":"Hi {{user}}"}}"#, to: "user.json")
        let rows = try place.write(
            #"{"ChannelType":"APNS","Address":"00aa","User":{"UserId":"u1"}}"# + "\n", to: "endpoints.json")
        let file = try place.write("template: user.json\nexpiration: 1h\n\(settings)\n", to: "select.yaml")
        for use in [Judged.Use.showing, .sending] {
            let judged = Judged(use, file: file, ["input": .text(rows), "to": .text("simulator")])
            #expect(judged.code == 64 && judged.text.contains(says), "\(judged)")
        }
    }

    @Test(arguments: [
        ("keys: [body]\n  cypher: x", "campaign.yaml:6:3: encryption: unknown key \"cypher\"; did you mean cipher?"),
        (
            "keys: [body]\n  cipher: des",
            "campaign.yaml:6:11: encryption.cipher: expected aes-256-gcm or aes-256-cbc, found \"des\""
        ),
        (
            "keys: [body]\n  padding: none",
            "campaign.yaml:6:12: encryption.padding: expected oaep-sha256, oaep-sha1 or pkcs1, found \"none\""
        ),
        ("keys: []", "campaign.yaml:5:3: encryption: expected the keys to encrypt, found none"),
        ("cipher: aes-256-gcm", "campaign.yaml:5:3: encryption: keys is missing"),
        ("keys: [boddy]", "payload.json:1:1: there is no key \"boddy\" to encrypt; did you mean \"body\"?"),
        ("keys: [aps]", "payload.json:1:2: the key \"aps\" cannot be encrypted"),
        (
            "keys: [body]\n  key_column: rsa",
            "sealed.csv:1: no column \"rsa\" with the recipient's key, which encryption needs; there are \"token\", "
                + "\"body\", \"public_key\""
        ),
    ])
    func `what is wrong with the encryption of a campaign`(encryption: String, message: String) throws {
        try place.write("token,body,public_key\nabcd,x,\n", to: "sealed.csv")
        try place.write(#"{"aps":{"alert":"a"},"body":"{{body}}"}"#, to: "payload.json")
        let file = try place.write(
            "to: simulator\ninput: sealed.csv\ntemplate: payload.json\nencryption:\n  \(encryption)\n",
            to: "campaign.yaml")
        let judged = Judged(.showing, file: file, [:])
        #expect(judged.code == 64 && judged.text == place.path(message), "\(judged)")
    }

    // MARK: Copies for other machines

    private func copy(_ text: String, without: [String] = [], columns: [String]? = nil) throws -> Judged {
        let file = try place.write("to: localhost:1\ntemplate: t.json\n\(text)\n", to: "other.yaml")
        return Judged(copying: file, without: without, columns: columns, into: place.path("copy"))
    }

    @Test(arguments: [
        ("expect: [accepted > 0]", "expect"), ("metrics_listen: \"9100\"", "metrics_listen"),
        ("state_dir: state", "state_dir"), ("webhooks: [{ url_file: u, secret_file: s }]", "webhooks"),
        ("rate_shared: r", "rate_shared"), ("on_complete: [/bin/true]", "on_complete"),
        ("require_fresh: 20h", "require_fresh"), ("from_row: 5", "from_row"),
        ("results_to: { database: d, table: t }", "results_to"),
    ])
    func `a setting that nobody could keep for all parts is refused, unless it is left out`(
        line: String, key: String
    ) throws {
        let refused = try copy(line)
        let says = "\(key): a run in parts cannot keep it; leave it out with --without \(key)"
        #expect(refused.code == 64 && refused.text.contains("other.yaml:3:"), "\(refused)")
        #expect(refused.text.contains(says), "\(refused)")
        let copied = try copy(line, without: [key])
        #expect(copied.code == 0 && copied.lines.isEmpty, "\(copied)")
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"{{frist_name}}"}}"#, "", #"unknown column "frist_name"; did you mean "first_name"?"#),
        (#"{"aps":{"alert":"Hi"}}"#, "result_columns: [nope]", #"no column "nope""#),
        (#"{"aps":{"alert":"Hi"}}"#, "only: { country: [DE] }", #"no column "country""#),
        (#"{"aps":{"alert":"Hi"}}"#, "columns: { name: Last }", "Last"),
        (#"{"aps":{"badge":"x"}}"#, "", "badge"), (#"{"aps":{"alert":"{{first_name"}}"#, "", "t.json:1:"),
    ])
    func `columns and templates are compared before a row is frozen`(
        template: String, line: String, message: String
    ) throws {
        try place.write(template, to: "t.json")
        let judged = try copy("topic: com.example.app\n\(line)", columns: ["token", "first_name"])
        #expect(judged.code == 64 && judged.text.contains(message), "\(judged)")
    }
}
