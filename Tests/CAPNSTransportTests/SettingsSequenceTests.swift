import CAPNSTransport
import Testing

/// Settings take effect one after the other, also within a frame (RFC 9113, section 6.5.3).
@Suite("Settings as a sequence")
struct SettingsSequenceTests {
    private static let tableSize: UInt16 = 1

    private static func settings(_ sizes: [UInt32]) -> Frame {
        Frame(type: Frame.settings, payload: sizes.flatMap { [0, 1] + bigEndian($0) })
    }

    /// The size updates at the beginning of a block (RFC 7541, section 6.3).
    private func updates(_ block: [UInt8]) -> [UInt32] {
        var (sizes, at) = ([UInt32](), 0)
        while at < block.count, block[at] & 0xe0 == 0x20 {
            var value = UInt32(block[at] & 0x1f)
            at += 1
            var shift: UInt32 = 0
            while value >= 31, at < block.count {
                value += UInt32(block[at] & 0x7f) << shift
                (shift, at) = (shift + 7, at + 1)
                if block[at - 1] & 0x80 == 0 { break }
            }
            sizes.append(value)
        }
        return sizes
    }

    /// Table sizes as a server may send them, and the size updates with which the next block begins.
    private static let cases: [(sizes: [[UInt32]], expected: [UInt32])] = [
        ([[0, 4096]], [0, 4096]),
        ([[0], [4096]], [0, 4096]),
        ([[4096, 0]], [0]),
        ([[100, 0, 200]], [0, 200]),
        ([[100], [0, 200]], [0, 200]),
        ([[2000, 1000, 3000], [2500]], [1000, 2500]),
        ([[4096, 4096]], []),
        ([[65_536, 100]], [100]),
    ]

    @Test("The next header block announces the smallest size of the table and the last one", arguments: cases.indices)
    func tableSizes(index: Int) throws {
        let (sizes, expected) = Self.cases[index]
        let setup = try WireTests.Setup(Limits(loop: .epoll))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        setup.peer.send(sizes.map(Self.settings))
        setup.drive { setup.peer.frames(Frame.settings).filter { $0.flags == 1 }.count == 1 + sizes.count }
        setup.submit([Request(ticket: 2)])
        setup.drive { setup.peer.frames(Frame.headers).count == 2 }
        #expect(updates(setup.peer.frames(Frame.headers)[1].payload) == expected)
    }

    @Test("Also in the first SETTINGS")
    func firstSettings() throws {
        let setup = try WireTests.Setup(Limits(loop: .epoll), firstSettings: Self.settings([0, 4096]))
        setup.submit([Request(ticket: 1)])
        setup.drive { setup.peer.frames(Frame.headers).count == 1 }
        #expect(updates(setup.peer.frames(Frame.headers)[0].payload) == [0, 4096])
    }
}
