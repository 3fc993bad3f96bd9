/// Returns the text in a C array of characters, up to its NUL.
package func textOfCharacters(_ array: some BitwiseCopyable) -> String {
    unsafe withUnsafeBytes(of: array) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
}
