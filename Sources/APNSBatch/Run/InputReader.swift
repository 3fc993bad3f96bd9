import CSVReader

/// The reader's thread: reads the input chunk by chunk and hands chunks to the lanes.
final class InputReader: Sendable {
    /// The names of the header row.
    let columns: [String]
    let chunks: BoundedQueue<CSVChunk>
    private let reader: CSVChunkReader
    private let name: String

    /// Opens the input and reads its header row; blocks for a pipe until that is there.
    ///
    /// - Parameter lanes: each lane may have a chunk in hand and one waiting; two more are being filled.
    init(_ campaign: Campaign, lanes: Int, limits: CSVLimits = .standard) throws(CampaignError) {
        name = campaign.input.name
        do {
            let dialect = try CSVDialect(delimiter: campaign.delimiter)
            let input: CSVInput =
                switch campaign.input {
                case .file(let path): .file(path)
                case .standardInput: .standardInput
                }
            reader = try CSVChunkReader(input: input, dialect: dialect, limits: limits, buffers: lanes * 2 + 2)
            columns = try reader.readHeader()
        } catch {
            throw Self.explain(error, name: campaign.input.name)
        }
        chunks = BoundedQueue(capacity: lanes * 2)
    }

    var bytesRead: UInt64 { reader.bytesRead }
    var bytesTotal: UInt64? { reader.bytesTotal }

    /// A lane's cursor over the chunks.
    func makeCursor() -> CSVRowCursor { reader.makeCursor() }

    /// Reads to the end, or until the run stops. `wake` tells the lanes that there is something to take.
    func run(control: RunControl, wake: () -> Void) {
        while advance(control: control, wake: wake) {}
    }

    /// Whether no further chunk comes.
    var isAtEnd: Bool { chunks.closed }

    /// What `run` does, in pieces and without ever waiting for buffers or room; false when there was nothing to do.
    func step(control: RunControl, wake: () -> Void) -> Bool {
        guard reader.hasFreeBuffer, chunks.hasRoom else { return false }
        return advance(control: control, wake: wake)
    }

    /// Reads one chunk and hands it over; false after the last.
    private func advance(control: RunControl, wake: () -> Void) -> Bool {
        do {
            if let chunk = try reader.next() {
                if !control.stopping, chunks.push(chunk) {
                    wake()
                    return true
                }
                chunk.recycle()
            }
        } catch {
            if error != .cancelled { control.stop(.failure(Self.explain(error, name: name))) }
        }
        chunks.close()
        wake()
        return false
    }

    /// Ends a read that waits for bytes, for instance of a pipe. From any thread.
    func cancel() {
        reader.cancel()
        chunks.close()
    }

    /// The next chunk, for whoever reads without a thread; nil at the end.
    func nextChunk() throws(CampaignError) -> CSVChunk? {
        do {
            return try reader.next()
        } catch {
            throw Self.explain(error, name: name)
        }
    }

    private static func explain(_ error: CSVError, name: String) -> CampaignError {
        if case .badDelimiter = error { return CampaignError(.configuration, "\(error)") }
        return CampaignError(.input, error.message(input: name))
    }
}

extension Campaign.Input {
    /// What errors call the input.
    var name: String {
        switch self {
        case .file(let path): path
        case .standardInput: "<stdin>"
        }
    }
}
