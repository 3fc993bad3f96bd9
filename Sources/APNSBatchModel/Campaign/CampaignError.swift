import APNSBatchBasics

/// The cause for which a campaign could not start or had to end, as a ``code`` for programs and a ``description`` for
/// people.
///
/// The description never contains a key, a provider token or a payload. It is one line, and safe to show on a terminal: what names of
/// files, servers and other programs hold of control characters is escaped.
public struct CampaignError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is. Later versions may add cases.
    @nonexhaustive
    public enum Code: Sendable, Hashable, CaseIterable {
        /// The campaign itself is wrong: an option, a template, a key or a column. Nothing was sent.
        case configuration
        /// The input cannot be opened or read.
        case input
        /// The run directory or the results cannot be written.
        case results
        /// Another process is working on the run.
        case busy
        /// APNs cannot be reached, or its certificate does not verify.
        case unreachable
        /// APNs gave an answer that every further row would get, too, such as InvalidProviderToken.
        case fatalAnswer
        /// The operating system denied memory, threads or file descriptors.
        case system
        /// A key or certificate is encrypted and no passphrase was given.
        case passphraseNeeded
        /// The function runs an object that can be run once, and was called before. Nothing was done.
        case alreadyRun
    }

    /// What kind of failure it is.
    public let code: Code
    /// A sentence without a full stop, with the place and the remedy where they are known.
    public let description: String
    /// The error from which this one follows, such as that of a file; nil if there is none. Its text is part of ``description``.
    public let cause: (any Error)?

    package init(_ code: Code, _ description: String, cause: (any Error)? = nil) {
        // What is lacking is lacking wherever it is noticed.
        self.code = (cause as? any SystemFailure)?.isOfMeans == true ? .system : code
        self.description = Printable.message(description)
        self.cause = cause
    }

    /// Runs `body`, and rethrows errors other than `CampaignError` as an error of this code with the same text.
    package static func mapping<T>(_ code: Code, _ body: () throws -> T) throws(CampaignError) -> T {
        do {
            return try body()
        } catch let error as CampaignError {
            throw error
        } catch {
            throw CampaignError(code, "\(error)", cause: error)
        }
    }
}

extension CampaignError: Equatable {
    /// Whether code and description are the same. Causes are not compared.
    public static func == (left: Self, right: Self) -> Bool {
        left.code == right.code && left.description == right.description
    }
}
