/// The cause for which a campaign could not start or had to end, as a ``kind`` for programs and a ``description`` for
/// people.
///
/// The description never contains a key, a provider token or a payload.
public struct CampaignError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of a failure. New cases may be added in later versions: switch with a default.
    public enum Kind: Sendable, Equatable {
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
    }

    public let kind: Kind
    public let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// Runs `body`, and rethrows errors other than `CampaignError` as an error of this kind with the same text.
    package static func mapping<T>(_ kind: Kind, _ body: () throws -> T) throws(CampaignError) -> T {
        do {
            return try body()
        } catch let error as CampaignError {
            throw error
        } catch {
            throw CampaignError(kind, "\(error)")
        }
    }
}
