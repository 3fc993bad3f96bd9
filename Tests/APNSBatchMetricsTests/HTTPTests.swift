import APNSBatchMetrics
import Testing

@Suite struct HTTPTests {
    private func question(_ text: String) throws(HTTPQuestion.Fault) -> HTTPQuestion {
        try HTTPQuestion(Array(text.utf8))
    }

    @Test func `path and accept are read, in all spellings`() throws {
        let plain = try question("GET / HTTP/1.0\r\n\r\n")
        #expect(plain.path == "/" && plain.accept == nil && !plain.isHead)
        let full = try question(
            "HEAD /metrics?x=/y HTTP/1.1\r\nHost: a:1\r\nACCEPT:  text/plain\r\naccept: */*\r\n\r\n")
        #expect(full.path == "/metrics" && full.accept == "text/plain,*/*" && full.isHead)
    }

    @Test(arguments: [
        "", "\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\n\n",
        "GET / HTTP/1.1\r\n", "GET http://a/ HTTP/1.1\r\n\r\n", "\0\u{FF}", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
    func `other bytes are malformed`(text: String) {
        #expect(throws: HTTPQuestion.Fault.malformed) { try question(text) }
    }

    @Test func `other methods are refused`() {
        #expect(throws: HTTPQuestion.Fault.otherMethod) { try question("POST /metrics HTTP/1.1\r\n\r\n") }
        let refusal = String(decoding: HTTPReply(.otherMethod).bytes(isHead: false), as: UTF8.self)
        #expect(
            refusal.hasPrefix("HTTP/1.1 405 Method Not Allowed\r\n") && refusal.contains("\r\nAllow: GET, HEAD\r\n"))
    }

    @Test func `an answer has the length of its body, and to HEAD no body`() {
        let reply = HTTPReply(200, "application/json", "{\"ä\":1}\n")
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\nCache-Control: no-store\r\n"
            + "Connection: close\r\n\r\n"
        #expect(String(decoding: reply.bytes(isHead: true), as: UTF8.self) == head)
        #expect(String(decoding: reply.bytes(isHead: false), as: UTF8.self) == head + "{\"ä\":1}\n")
    }
}
