import Foundation
import Testing

@testable import APNSBatchBasics

/// Files are opened only if they are what their user expects, and opening never waits.
@Suite struct OpenFileTests {
    private let directory = NSTemporaryDirectory() + "open-\(UUID().uuidString)"

    /// A file of each kind, and links to some of them.
    init() throws {
        try FileManager.default.createDirectory(atPath: directory + "/directory", withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: path("file"), contents: Data("text".utf8)))
        #expect(mkfifo(path("fifo"), 0o600) == 0)
        let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path("socket").utf8) }
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                #expect(bind(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0)
            }
        }
        for name in ["file", "fifo", "socket", "directory"] { symlink(name, path("link-\(name)")) }
        symlink("/dev/zero", path("device"))
        symlink("nowhere", path("dangling"))
    }

    private func path(_ name: String) -> String { directory + "/" + name }

    private static let kinds: [(name: String, kind: OpenFile.Kinds)] = [
        ("file", .file), ("fifo", .fifo), ("socket", .socket), ("directory", .directory), ("device", .device),
        ("link-file", .file), ("link-fifo", .fifo), ("link-socket", .socket), ("link-directory", .directory),
    ]

    @Test func `each kind is opened where it is expected, and refused elsewhere`() throws {
        for (name, kind) in Self.kinds {
            #expect(OpenFile.kind(of: path(name)) == kind, "\(name)")
            for expected in [.file, .pipe, .fifo, .socket, .directory, .device, .disk] as [OpenFile.Kinds] {
                do throws(OpenFile.Refusal) {
                    _ = try OpenFile(path(name), O_RDONLY, expected)
                    #expect(expected == kind, "\(name)")
                } catch {
                    // A socket is not opened by its path at all.
                    #expect(error == (expected == kind ? .system(ENXIO) : .kind(kind)), "\(name)")
                    #expect(expected != kind || kind == .socket, "\(name)")
                }
            }
        }
        #expect(throws: OpenFile.Refusal.system(ENOENT)) { _ = try OpenFile(path("dangling"), O_RDONLY) }
        #expect(throws: OpenFile.Refusal.system(ELOOP)) { _ = try OpenFile(path("link-file"), O_RDONLY | O_NOFOLLOW) }
        // Nobody reads it.
        #expect(throws: OpenFile.Refusal.system(ENXIO)) { _ = try OpenFile(path("fifo"), O_WRONLY, .fifo) }
    }

    @Test func `a pipe without a name is told from a FIFO`() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        #expect(OpenFile.kind(of: "/dev/fd/\(ends[0])") == .pipe)
        #expect(throws: OpenFile.Refusal.kind(.pipe)) { _ = try OpenFile("/dev/fd/\(ends[0])", O_RDONLY) }
        #expect(write(ends[1], "text", 4) == 4)
        close(ends[1])
        ends[1] = -1
        let file = try OpenFile("/dev/fd/\(ends[0])", O_RDONLY, .pipe)
        file.makeBlocking()
        var bytes = [UInt8](repeating: 0, count: 10)
        let count = try bytes.withUnsafeMutableBufferPointer { (room) throws(OpenFile.Refusal) in
            try file.read(into: UnsafeMutableRawBufferPointer(room))
        }
        #expect(String(decoding: bytes[..<count], as: UTF8.self) == "text")
    }

    @Test func `content is that of a file of moderate size`() throws {
        #expect(try OpenFile.content(of: path("link-file"), most: 4) == Array("text".utf8))
        #expect(throws: OpenFile.Refusal.system(EFBIG)) { try OpenFile.content(of: path("file"), most: 3) }
        #expect(throws: OpenFile.Refusal.kind(.fifo)) { try OpenFile.content(of: path("fifo"), most: 3) }
        #expect(try !OpenFile.content(of: "/proc/self/status", most: 10_000).isEmpty)
    }

    /// What may be at a path before a file is written there, for each of the three targets.
    @Test func `no output waits for the reader of a FIFO, and files of a run replace no link`() throws {
        try Data("note\nold".utf8).write(to: URL(filePath: path("file")))
        for target in [OutputFile.Target.named, .file, .own] {
            let kind = OutputFile.Kind("notes of a test", at: target, startingWith: "note\n")
            func write(_ name: String) -> OutputFileError? {
                do throws(OutputFileError) {
                    try OutputFile.write(Array("note\nnew".utf8), to: path(name), kind, readers: .owner)
                    return nil
                } catch {
                    return error
                }
            }
            #expect(write("file") == nil && write("new-\(target)") == nil)
            let others: [(String, String)] = [
                ("fifo", target == .named ? "a FIFO that nobody reads" : "a FIFO"), ("socket", "a socket"),
                ("directory", "a directory"),
            ]
            for (name, found) in others { #expect(write(name) == .other(path(name), found), "\(target)") }
            #expect(
                write("device")
                    == (target == .named
                        ? nil : .other(path("device"), target == .own ? "a symbolic link" : "a device")))
            #expect(write("link-file") == (target == .own ? .other(path("link-file"), "a symbolic link") : nil))
            let linked: OutputFileError =
                target == .own ? .other(path("link-fifo"), "a symbolic link") : .other(path("link-fifo"), others[0].1)
            #expect(write("link-fifo") == linked)
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path("link-file")) == "file")
    }
}
