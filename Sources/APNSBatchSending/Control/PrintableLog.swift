import APNSBatchBasics
import Logging

/// A log handler that makes printable what it passes on, for messages and metadata hold texts of servers, files and other programs. The
/// metadata of the program's own logger stays as it is.
private struct PrintableLog: LogHandler {
    private var handler: any LogHandler

    init(_ handler: any LogHandler) { self.handler = handler }

    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }

    var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        var event = event
        event.message = "\(Printable.message("\(event.message)"))"
        event.metadata = event.metadata?.mapValues { "\(Printable.message("\($0)"))" }
        handler.log(event: event)
    }
}

extension Logger {
    /// The logger through which the library writes.
    package var printable: Logger {
        guard !(handler is PrintableLog) else { return self }
        var logger = self
        logger.handler = PrintableLog(handler)
        return logger
    }
}
