/// A template with encrypted keys. It consists of two templates: an inner one, an object of those keys, and an
/// outer one with the other keys and those that carry the encrypted ones:
///
///     {"aps":{…,"mutable-content":1},…,"encrypted":true,"content":"…","secret":"…"}
///
/// The values of `content` and `secret` come from two fields after those of the input; see ``outerColumns(_:)``. Both
/// templates are rendered like any other, so that sizes and limits are exact.
package struct SealedTemplate: Sendable {
    /// The template of what is encrypted.
    package let inner: PayloadTemplate
    /// The template of what is sent.
    package let outer: PayloadTemplate

    /// Keys with a meaning of their own in an encrypted payload.
    package static let carriers = ["encrypted", "content", "secret"]
    /// Keys that cannot be encrypted: the carriers, and the key that APNs itself reads.
    private static let unsealable = ["aps"] + carriers

    /// Compiles a template.
    ///
    /// - Parameters:
    ///   - json: the template's text in UTF-8, with no key encrypted.
    ///   - columns: the names in the input's header, in order.
    ///   - file: the template's name in error messages.
    ///   - keys: the top-level keys to encrypt.
    /// - Throws: the first error in the template, with its place.
    package init(json: [UInt8], columns: [String], file: String, keys: [String]) throws(TemplateError) {
        let source = TemplateParser.withoutMark(json)
        let node = try TemplateParser.parse(source, columns: columns, file: file)
        do throws(TemplateParser.Fault) {
            let split = try SealedSplit(node, keys: keys, content: columns.count)
            inner = PayloadTemplate(split.inner, columns: columns, source: source, file: file)
            outer = PayloadTemplate(
                split.outer, columns: Self.outerColumns(columns), source: source, file: file)
        } catch {
            throw TemplateParser.error(error, in: source, file: file)
        }
    }

    /// Returns the names of the input's columns and of the two fields after them.
    package static func outerColumns(_ columns: [String]) -> [String] { columns + ["content", "secret"] }

    /// Whether a key may be encrypted.
    static func isSealable(_ key: String) -> Bool { !unsealable.contains(key) }
}

/// The tree of a template, split into its inner and outer parts.
struct SealedSplit {
    let inner: TemplateNode
    let outer: TemplateNode

    /// - Parameter content: the index of the field for `content`. The next field is that for `secret`.
    init(_ node: TemplateNode, keys: [String], content: Int) throws(TemplateParser.Fault) {
        guard case .object(let members) = node.value else {
            throw TemplateParser.Fault(cause: .json(.expectedObject, "expected an object"), offset: node.offset)
        }
        try Self.check(keys, members, place: node.offset)
        let names = Set(keys.map { Array($0.utf8) })
        inner = Self.object(members.filter { names.contains($0.key) }, like: node)
        let clear = members.filter { !names.contains($0.key) }
        outer = Self.object(
            try Self.mutable(clear, under: node) + Self.carriers(content, under: node), like: node)
    }

    private static func check(
        _ keys: [String], _ members: [TemplateMember], place: Int
    ) throws(TemplateParser.Fault) {
        let present = members.map { String(decoding: $0.key, as: UTF8.self) }
        for (index, member) in members.enumerated() where SealedTemplate.carriers.contains(present[index]) {
            throw TemplateParser.Fault(cause: .keyOfEncryption(present[index]), offset: member.offset)
        }
        for key in keys {
            guard present.contains(key) else {
                throw TemplateParser.Fault(cause: .noKeyToEncrypt(key, known: present), offset: place)
            }
            guard SealedTemplate.isSealable(key) else {
                let member = members.first { String(decoding: $0.key, as: UTF8.self) == key }
                throw TemplateParser.Fault(cause: .keyInTheClear(key), offset: member?.offset ?? place)
            }
        }
    }

    /// Returns the members with `mutable-content` in `aps`, without which the app's extension does not get to decrypt the
    /// payload.
    private static func mutable(
        _ members: [TemplateMember], under node: TemplateNode
    ) throws(TemplateParser.Fault) -> [TemplateMember] {
        let mark = member("mutable-content", .scalar([UInt8(ascii: "1")]), depth: node.depth + 2, node.offset)
        guard let place = members.firstIndex(where: { $0.key.elementsEqual("aps".utf8) }) else {
            return [member("aps", .object([mark]), depth: node.depth + 1, node.offset)] + members
        }
        let aps = members[place]
        guard case .object(let inside) = aps.node.value else {
            throw TemplateParser.Fault(cause: .apsNoObject, offset: aps.node.offset)
        }
        if let own = inside.first(where: { $0.key == mark.key }) {
            guard case .scalar(let value) = own.node.value, value.elementsEqual("1".utf8) || value == Array("true".utf8)
            else {
                throw TemplateParser.Fault(cause: .openMutableContent, offset: own.node.offset)
            }
            return members
        }
        var members = members
        members[place] = TemplateMember(
            key: aps.key, offset: aps.offset, node: object(inside + [mark], like: aps.node))
        return members
    }

    private static func carriers(_ content: Int, under node: TemplateNode) -> [TemplateMember] {
        let (depth, offset) = (node.depth + 1, node.offset)
        func field(_ column: Int) -> TemplateNode.Value {
            .string([.placeholder(TemplatePlaceholder(column: column, type: .text, isOptional: false))])
        }
        return [
            member("encrypted", .scalar(Array("true".utf8)), depth: depth, offset),
            member("content", field(content), depth: depth, offset),
            member("secret", field(content + 1), depth: depth, offset),
        ]
    }

    private static func member(
        _ key: String, _ value: TemplateNode.Value, depth: Int, _ offset: Int
    ) -> TemplateMember {
        TemplateMember(
            key: Array(key.utf8), offset: offset, node: TemplateNode(offset: offset, depth: depth, value: value))
    }

    private static func object(_ members: [TemplateMember], like node: TemplateNode) -> TemplateNode {
        TemplateNode(offset: node.offset, depth: node.depth, value: .object(members))
    }
}
