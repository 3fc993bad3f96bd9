import Foundation
import Testing

@testable import APNSBatch
@testable import APNSBatchModel

@Suite("Reference documentation") struct ReferenceTests {
    @Test("The file docs/reference/rules.md equals the output of apns-batch reference")
    func isUpToDate() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let text = try String(contentsOf: root.appending(path: "docs/reference/rules.md"), encoding: .utf8)
        #expect(text == ReferenceTables.markdown)
    }

    @Test("The tests that the reference names exist")
    func namesTests() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
        let names = (files?.compactMap { ($0 as? URL)?.lastPathComponent } ?? [])
        let rows = ReferenceTables.markdown.split(separator: "\n")
        let named = Set(rows.compactMap { $0.split(separator: "`").dropLast().last }.filter { $0.hasSuffix("Tests") })
        #expect(named.count >= 5)
        for name in named { #expect(names.contains("\(name).swift"), "\(name)") }
    }
}
