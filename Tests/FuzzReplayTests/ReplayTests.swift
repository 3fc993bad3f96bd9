import APNSBatchFuzzTargets
import APNSBatchTestSupport
import Glibc
import Testing

/// Replays the initial inputs of the fuzzers, and those that they have found, without a fuzzer.
@Suite("Replayed inputs of the fuzzers", .ownThread, .serialized)
struct ReplayTests {
    @Test("Replayed inputs break no guarantee", arguments: FuzzTarget.all.map(\.name))
    func replay(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let inputs = try Corpus.inputs(of: name)
        #expect(inputs.count >= 3, "Fuzz/Corpus/\(name) has hardly any inputs")
        for input in inputs {
            input.bytes.withUnsafeBytes { target.run($0) }
            // The input is also cut at each of its first offsets, and each of its first bytes is changed.
            for index in input.bytes.indices.prefix(200) {
                input.bytes[..<index].withUnsafeBytes { target.run($0) }
                var changed = input.bytes
                changed[index] ^= 0x81
                changed.withUnsafeBytes { target.run($0) }
            }
        }
    }
}

private struct Corpus {
    let bytes: [UInt8]

    static func inputs(of name: String) throws -> [Corpus] {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        let folder = root + "/Fuzz/Corpus/" + name
        let list = try #require(opendir(folder), "no folder \(folder)")
        defer { closedir(list) }
        var inputs: [Corpus] = []
        while let entry = readdir(list) {
            let file = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !file.hasPrefix(".") { inputs.append(Corpus(bytes: try read(folder + "/" + file))) }
        }
        return inputs
    }

    private static func read(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"), "cannot read \(path)")
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
        return bytes
    }
}
