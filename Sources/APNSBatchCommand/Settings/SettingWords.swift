import APNSBatch
import APNSBatchBasics
import ArgumentParser
import Glibc

/// What can be checked in a value by itself, wherever it was given.
extension SettingForm {
    /// Returns what is wrong with the texts of a value; empty if nothing is.
    func faults(in value: SettingValue?) -> [String] {
        switch value {
        case .text(let text): fault(in: text).map { [$0] } ?? []
        case .list(let list): list.flatMap { faults(in: $0) }
        default: []
        }
    }

    /// Returns what is wrong with one text.
    func fault(in text: String) -> String? {
        if !words.isEmpty, otherwise == nil, !words.contains(text) {
            return WordList.refusal(of: text, words)
        }
        switch kind {
        case .path where key.hasSuffix("url_file") && text.contains("://"):
            return
                "expected the path of a file that holds the URL, found a URL (not shown, because it is a secret)"
        case .path, .pathOrPaths, .paths, .pathsByName:
            return name == "input" ? ObjectURL(text)?.fault ?? Self.pathFault(in: text) : Self.pathFault(in: text)
        default: return nil
        }
    }

    /// A path that is empty comes from a variable without a value, and only a shell replaces `~` and variables.
    private static func pathFault(in path: String) -> String? {
        if path.isEmpty { return "expected a path, found an empty text" }
        let isHome = path == "~" || path.hasPrefix("~/")
        guard isHome || path.hasPrefix("$"), access(path, F_OK) != 0 else { return nil }
        return "expected a path, found \(path.quoted); neither ~ nor variables are replaced: write the whole path"
    }
}

extension Setting {
    /// Applies a value to a campaign. Returns what is wrong with it, after the key; nil if nothing is.
    func applied(_ value: SettingValue, to campaign: inout Campaign) -> UsageError? {
        do {
            try apply?(&campaign, value)
            return nil
        } catch let error as CampaignError {
            // The library names the setting itself.
            let name = (calledBy ?? key.replacing("_", with: " ")) + ": "
            let text = "\(error)"
            return UsageError(
                "\(key): \(text.hasPrefix(name) ? String(text.dropFirst(name.count)) : text)", cause: error)
        } catch {
            return UsageError("\(key): \(error)\(hint(for: value))", cause: error)
        }
    }

    /// The end of an error about a text: the word that was probably meant.
    private func hint(for value: SettingValue) -> String {
        guard otherwise != nil, let text = value.text, !words.contains(text) else { return "" }
        return WordList.hint(text, in: words)
    }
}

/// What shells complete.
extension CompletionKind {
    static let campaign = CompletionKind.file(extensions: ["yaml", "yml"])
}

extension Setting {
    /// What shells complete after the flag; nil if nothing can be known.
    var completion: CompletionKind? {
        if !words.isEmpty { return .list(words) }
        switch kind {
        case .path where name.hasSuffix("Dir"): return .directory
        case .path, .pathOrPaths, .paths: return .file()
        default: return nil
        }
    }
}
