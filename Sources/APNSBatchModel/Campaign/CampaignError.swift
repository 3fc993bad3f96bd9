/// Why a campaign could not start or had to end, for programs (``kind``) and for people (``description``).
///
/// The text never holds a key, a provider token or a payload.
public struct CampaignError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of failure it is. New kinds may come: switch with a default.
    public enum Kind: Sendable, Equatable {
        /// The campaign itself is wrong: an option, a template, a key, a column. Nothing was sent.
        case configuration
        /// The input cannot be opened or read.
        case input
        /// The run directory or the results cannot be written.
        case results
        /// APNs cannot be reached, or its certificate does not verify.
        case unreachable
        /// APNs gave an answer that no further row can survive, such as InvalidProviderToken.
        case fatalAnswer
        /// The machine refused something: memory, threads, descriptors.
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

    /// Runs `body`. What it throws becomes an error of this kind with the same text; errors of a campaign stay what they are.
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
