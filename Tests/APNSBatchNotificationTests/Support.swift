import APNSBatchNotification
import Glibc

/// The result of rendering a payload, in a form that tests can compare.
enum Rendered: Equatable {
    case payload([UInt8])
    case tooLarge(Int)
    case invalid(String)

    static func text(_ text: String) -> Rendered { .payload(Array(text.utf8)) }

    var string: String? {
        guard case .payload(let bytes) = self else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// Memory that ends at an inaccessible page, so that a read or write of one byte beyond it ends the test process.
final class GuardedMemory {
    let bytes: UnsafeMutableRawBufferPointer
    private let mapping: UnsafeMutableRawPointer
    private let mappingSize: Int

    init(count: Int) {
        let page = 4096
        let usable = (count + page - 1) / page * page
        mappingSize = usable + page
        mapping = mmap(nil, mappingSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
        precondition(mapping != MAP_FAILED)
        precondition(mprotect(mapping + usable, page, PROT_NONE) == 0)
        bytes = UnsafeMutableRawBufferPointer(start: mapping + (usable - count), count: count)
    }

    convenience init(_ content: [UInt8]) {
        self.init(count: content.count)
        bytes.copyBytes(from: content)
    }

    deinit { munmap(mapping, mappingSize) }
}

extension PayloadTemplate {
    convenience init(_ json: String, _ columns: [String] = []) throws(TemplateError) {
        try self.init(json: Array(json.utf8), columns: columns, file: "t.json")
    }

    /// Renders a row from guarded memory into guarded memory.
    func rendered(_ fields: [[UInt8]], capacity: Int = 4096) -> Rendered {
        let memory = fields.map { GuardedMemory($0) }
        let views = memory.map { UnsafeRawBufferPointer($0.bytes) }
        let output = GuardedMemory(count: capacity)
        // The views do not keep the memory alive.
        defer { withExtendedLifetime((memory, output)) {} }
        return views.withUnsafeBufferPointer { fields in
            switch render(fields: fields, into: output.bytes) {
            case .written(let count): return .payload(Array(output.bytes[..<count]))
            case .tooLarge(let count): return .tooLarge(count)
            case .invalid(let failure): return .invalid(describe(failure, fields: fields))
            }
        }
    }

    func rendered(_ fields: String..., capacity: Int = 4096) -> Rendered {
        rendered(fields.map { Array($0.utf8) }, capacity: capacity)
    }
}

/// Compacts a payload from guarded memory into guarded memory.
func compacted(_ json: [UInt8], capacity: Int? = nil) -> Rendered {
    let input = GuardedMemory(json)
    let output = GuardedMemory(count: capacity ?? json.count)
    defer { withExtendedLifetime((input, output)) {} }
    switch PayloadCompactor.compact(json: UnsafeRawBufferPointer(input.bytes), into: output.bytes) {
    case .written(let count): return .payload(Array(output.bytes[..<count]))
    case .tooLarge(let count): return .tooLarge(count)
    case .invalid(let failure):
        return .invalid(failure.description(column: "payload", field: UnsafeRawBufferPointer(input.bytes)))
    }
}

func compacted(_ json: String) -> Rendered { compacted(Array(json.utf8)) }

/// A SplitMix64 generator, which returns the same numbers for the same seed on every machine.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
