import Testing

@testable import APNSBatchRows

/// Lines that are given back to be corrected.
@Suite("Lines that are given back") struct ReturnedLinesTests {
    private func line(_ record: String, _ format: RowFormat, reason: String = "invalid: it is \"bad\"") -> String {
        var lines: [UInt8] = []
        Array(record.utf8).withUnsafeBytes {
            ReturnedLines(format).append($0, row: 7, reason: reason, to: &lines)
        }
        return String(decoding: lines, as: UTF8.self)
    }

    @Test(arguments: [
        ("a,b\n", "a,b\n"), ("a,b\r\n", "a,b\r\n"), ("a,b", "a,b\n"), ("\"a\r\n\n\"\"b\",c\n", "\"a\r\n\n\"\"b\",c\n"),
        ("\"a,b\n", "\"a,b\n"),
    ]) func `a record of CSV stays as it is behind row and reason`(record: String, expected: String) throws {
        #expect(line(record, .csv(.comma)) == "7,\"invalid: it is \"\"bad\"\"\"," + expected)
        let tab = try CSVDialect(delimiter: UInt8(ascii: "\t"))
        #expect(line(record, .csv(tab), reason: "expired") == "7\texpired\t" + expected)
    }

    @Test func `columns of the input never have the names of the columns in front`() {
        func header(_ columns: String...) -> String {
            String(decoding: ReturnedLines(.csv(.comma)).header(columns), as: UTF8.self)
        }
        #expect(header("token", "a,b") == "not_sent_row,not_sent_reason,token,\"a,b\"\n")
        #expect(header("not_sent_row", "token") == "not_sent_row,not_sent_reason,not_sent_row_1,token\n")
        #expect(
            header("not_sent_row", "not_sent_row_1", "not_sent_reason")
                == "not_sent_row,not_sent_reason,not_sent_row_2,not_sent_row_1,not_sent_reason_1\n")
        #expect(ReturnedLines(.ndjson).header(["token"]).isEmpty)
    }

    @Test(arguments: [
        (#"{"a": 1}"#, #","a": 1}"#), (" {}\n", "}"), ("{\"a\":1}\r\n", ",\"a\":1}\r"), (#"{"a": "#, #","a": "#),
        ("no\n", #","not_sent_line":"no"}"#), (#"["\"]"#, #","not_sent_line":"[\"\\\"]"}"#),
        (
            #"{"not_sent_row": 1, "x": {"not_sent_row": "not_sent_row"}, "y": "not_sent_row"}"#,
            #","not_sent_row_1": 1, "x": {"not_sent_row": "not_sent_row"}, "y": "not_sent_row"}"#
        ),
    ]) func `an object has two members in front, and none of their names twice`(record: String, expected: String) {
        #expect(
            line(record, .ndjson) == #"{"not_sent_row":7,"not_sent_reason":"invalid: it is \"bad\"""# + expected + "\n")
    }
}
