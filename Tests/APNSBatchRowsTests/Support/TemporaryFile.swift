import Glibc

/// A temporary file, which is removed afterwards.
final class TemporaryFile {
    let path: String
    private let descriptor: Int32

    convenience init(_ text: String) { self.init(Array(text.utf8)) }

    init(_ bytes: [UInt8]) {
        var template = Array("/tmp/csv-reader-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        append(bytes)
    }

    deinit {
        close(descriptor)
        unlink(path)
    }

    func append(_ text: String) { append(Array(text.utf8)) }

    private func append(_ bytes: [UInt8]) {
        precondition(write(descriptor, bytes, bytes.count) == bytes.count)
    }

    func truncate(to size: Int) {
        precondition(ftruncate(descriptor, size) == 0)
    }

    func descriptor(at offset: Int) -> Int32 {
        let copy = open(path, O_RDONLY)
        lseek(copy, offset, SEEK_SET)
        return copy
    }
}
