import APNSBatchBasics
import Glibc
import Testing

@testable import APNSBatchRows

@Suite("Programs whose output is the input", .serialized) struct ProducerTests {
    private static func source(_ script: String, patience: Duration = .seconds(60)) throws(InputError) -> Heard {
        let lines = Guarded<[String]>([])
        let producer = Producer(["sh", "-c", script], patience: patience) { line in lines.withLock { $0.append(line) } }
        return Heard(source: try ProducerSource(producer), lines: lines)
    }

    /// A program, and the lines that it wrote to standard error.
    private struct Heard {
        let source: ProducerSource
        let lines: Guarded<[String]>

        func readToEnd() -> (text: String, fault: InputError?) {
            var (made, piece) = ([UInt8](), [UInt8](repeating: 0, count: 1000))
            do throws(InputError) {
                while true {
                    let got = try piece.withUnsafeMutableBufferPointer { (room) throws(InputError) in
                        try source.read(into: UnsafeMutableRawBufferPointer(room))
                    }
                    if got == 0 { return (String(decoding: made, as: UTF8.self), nil) }
                    made += piece[..<got]
                }
            } catch {
                return (String(decoding: made, as: UTF8.self), error)
            }
        }
    }

    @Test func `a program that ends with exit code 0 has written the input`() throws {
        let heard = try Self.source("echo token; echo note >&2; cat; printf 'aa'; printf 'no end' >&2")
        #expect(heard.readToEnd() == ("token\naa", nil))
        #expect(heard.lines.withLock { $0 } == ["note", "no end"])
        #expect(heard.readToEnd() == ("", nil))
    }

    @Test(arguments: [
        ("echo token; exit 3", ProducerFault.exited(3)), ("echo token; kill -9 $$", .signaled(9)),
        ("echo token; exec 1>&-; sleep 0.1; exit 1", .exited(1)),
    ])
    func `any other end is an error, and the bytes before it come first`(script: String, fault: ProducerFault) throws {
        let heard = try Self.source(script)
        #expect(heard.readToEnd() == ("token\n", .ofProducer(fault)))
        // It stays one.
        #expect(heard.readToEnd() == ("", .ofProducer(fault)))
    }

    @Test func `a program that does not exist cannot be started`() {
        #expect(throws: InputError.ofProducer(.cannotStart(ENOENT))) {
            try ProducerSource(Producer(["./no-such-program"], patience: .seconds(1)))
        }
    }

    @Test func `a program that is too slow is killed with what it has started`() throws {
        let heard = try Self.source("sleep 1000 & echo $!; wait", patience: .milliseconds(300))
        let (text, fault) = heard.readToEnd()
        #expect(fault == .ofProducer(.tooSlow(0)))
        let sleeper = try #require(pid_t(text.dropLast()))
        #expect(Self.isGone(sleeper))
    }

    @Test func `a program is killed when its input is not wanted any more`() throws {
        let heard = try Self.source("sleep 1000 & echo $!; wait")
        var piece = [UInt8](repeating: 0, count: 1000)
        let got = try piece.withUnsafeMutableBytes { try heard.source.read(into: $0) }
        let sleeper = try #require(pid_t(String(decoding: piece[..<(got - 1)], as: UTF8.self)))
        heard.source.cancel()
        #expect(heard.readToEnd().fault == .cancelled)
        #expect(Self.isGone(sleeper))
    }

    /// Its parent was killed, too, so that another process takes its exit code, in its time.
    private static func isGone(_ process: pid_t) -> Bool {
        for _ in 0..<1000 {
            if kill(process, 0) != 0 { return true }
            guard let state = try? FileStorage("/proc/\(process)/stat", .readOnly) else { return true }
            var text = [UInt8](repeating: 0, count: 200)
            let count = (try? text.withUnsafeMutableBytes { try state.read(at: 0, into: $0) }) ?? 0
            if String(decoding: text[..<count], as: UTF8.self).contains(") Z ") { return true }
            usleep(10_000)
        }
        return false
    }
}
