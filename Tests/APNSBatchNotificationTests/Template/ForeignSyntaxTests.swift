import APNSBatchNotification
import Testing

/// Templates as other programs have them, and texts that only look like that.
@Suite struct ForeignSyntaxTests {
    static let columns = ["token", "first_name", "name", "prize"]

    private func message(_ text: String) -> String {
        do {
            _ = try PayloadTemplate(json: Array(json(text).utf8), columns: Self.columns, file: "t.json")
            return "no error"
        } catch {
            return error.description
        }
    }

    private func json(_ text: String) -> String {
        #"{"aps":{"alert":"\#(text.replacing("\"", with: "\\\""))"}}"#
    }

    private func warnings(_ text: String) throws -> [String] {
        let template = try PayloadTemplate(json: Array(json(text).utf8), columns: Self.columns, file: "t.json")
        return PayloadRules(template: template, pushType: .alert).templateFindings.map {
            "\($0.rule.rawValue): \($0.message)"
        }
    }

    @Test(
        "A filter behind the bar is refused, with what to write",
        arguments: [
            ("{{ name | default: 'there' }}", "write {{name|there}}"),
            ("{{ name|default(\"there\") }}", "write {{name|there}}"),
            ("{{name | default: there}}", "write {{name|there}}"), ("{{ name | default('') }}", "write {{name}}"),
            ("{{ name | upcase | default: 'x' }}", "write {{name|x}}"),
            ("{{ name | fallback: \"x\" }}", "write {{name|x}}"),
            ("{{ name | default_if_none:'x' }}", "write {{name|x}}"), ("{{ name | d('x') }}", "write {{name|x}}"),
            ("{{ ${first_name} | default: 'x' }}", "write {{first_name|x}}"),
            ("{{${first_name} | default: 'x'}}", "write {{first_name|x}}"),
            ("{{ name | capitalize }}", "write {{name}}; there are no filters"),
            ("{{name|upcase}}", "write {{name}}; there are no"),
            ("{{ name | truncate: 20 }}", "write {{name}}; there are no"),
            ("{{ name | date: \"%d.%m.%Y\" }}", "write {{name}}; "),
            ("{{ name | replace('a', 'b') }}", "write {{name}}; "), ("{{ name | title() }}", "write {{name}}; "),
            ("{{ name | round(2) }}", "write {{name}}; "), ("{{ name | append: '!' }}", "write {{name}}; "),
            ("{{ name | strip_html | downcase }}", "write {{name}}; "),
            ("{{ surname | default: 'x' }}", "write {{surname|x}}"),
        ])
    func filters(text: String, cure: String) {
        let message = message("Hi \(text)!")
        #expect(message.hasPrefix("t.json:1:21: \"{{"), "\(message)")
        #expect(message.contains("is syntax of Liquid or Jinja, and would be sent as text; \(cure)"), "\(message)")
    }

    @Test(
        "Marks of other languages are refused, with what to write",
        arguments: [
            ("{% if name %}x{% endif %}", "Liquid, Jinja or Twig", "there are no conditions"),
            ("{%- assign a = 1 -%}", "Liquid, Jinja or Twig", "there are no conditions"),
            ("{% if {{name}} %}", "Liquid, Jinja or Twig", "there are no conditions"),
            ("{# greeting #}", "Jinja or Twig", "there are no conditions"),
            ("<%= name %>", "ERB or EJS", "write {{name}}"),
            ("<% if x %>", "ERB or EJS", "there are no conditions"), ("<?= $name ?>", "PHP", "there are no conditions"),
            ("*|NAME|*", "Mailchimp", "write {{name}}"), ("*|FNAME|*", "Mailchimp", "write {{FNAME}}"),
            ("%%first_name%%", "Salesforce Marketing Cloud", "write {{first_name}}"),
            ("%%=v(@name)=%%", "Salesforce Marketing Cloud", "there are no conditions"),
            ("{!name}", "Salesforce", "write {{name}}"), ("{!Contact.FirstName}", "Salesforce", "write {{"),
            ("${name}", "JavaScript, Java or a shell", "write {{name}}"), ("#{name}", "Ruby", "write {{name}}"),
            ("{$name}", "Smarty", "write {{name}}"), ("%(name)s", "Python", "write {{name}}"),
            ("[[name]]", "mail programs", "write {{name}}"),
            ("<<name>>", "mail programs", "write {{name}}"), ("%name%", "mail programs", "write {{name}}"),
            ("%FIRST_NAME%", "mail programs", "write {{first_name}}"),
        ])
    func marks(text: String, language: String, cure: String) {
        let message = message("Hi \(text)!")
        #expect(message.hasPrefix("t.json:1:21: \""), "\(message)")
        #expect(message.contains(" is syntax of \(language), and would be sent as text; \(cure)"), "\(message)")
    }

    @Test(
        "Statements in place of a column are named for what they are",
        arguments: [
            ("{{#if name}}", "Handlebars or Mustache", "there are no conditions"),
            ("{{/if}}", "Handlebars or Mustache", "there are no conditions"),
            ("{{^name}}", "Handlebars or Mustache", "there are no conditions"),
            ("{{else}}", "Handlebars or Mustache", "there are no conditions"),
            ("{{! note }}", "Handlebars or Mustache", "leave the comment out"),
            ("{{> header}}", "Handlebars or Mustache", "there are no partials"),
            ("{{${name}}}", "Braze", "write {{name}}"),
            ("{{ name ?? 'x' }}", "other template languages", "write {{name|x}}"),
            ("{{ name || 'x' }}", "other template languages", "write {{name|x}}"),
            ("{{ name or 'x' }}", "other template languages", "write {{name|x}}"),
            ("{{ .Name }}", "other template languages", "write {{name}}"),
            ("{{&name}}", "other template languages", "write {{name}}"),
            ("{{- name -}}", "other template languages", "write {{name}}"),
            ("{{$name}}", "other template languages", "write {{name}}"),
        ])
    func statements(text: String, language: String, cure: String) {
        let message = message("Hi \(text)")
        #expect(message.hasPrefix("t.json:1:21: "), "\(message)")
        #expect(message.contains(" is syntax of \(language), and would be sent as text; \(cure)"), "\(message)")
    }

    @Test(
        "Texts that people write are sent as they are, without a word",
        arguments: [
            "{{name|there}}", "{{name|default}}", "{{name|date}}", "{{name|size}}", "{{name|first}}",
            "{{name|friend(s)}}",
            "{{name|Note: call us}}", "{{name|date: tomorrow}}", "{{name|size(L)}}", "{{name|a|b}}", "{{name|yes|no}}",
            "{{name|Default: on}}", "{{name|dear friend}}", "{{name|default sound}}", "{{name|50% off}}",
            "50% off", "20%-50% off", "100% sure, 100% fun", "100%name%", "Save 50%!", "5 % of 10 %", "a {b} c", "a {}",
            "{ }",
            "{50%} off {20%}", "{%}", "{#hashtag}", "#hashtag {x}", "[[NEW]]", "<<sale>>", "a << b >> c", "$5 and $10",
            "US$", "%NEW%",
            "{{{{name}}}}", "{{{{% if %}}}}", "*| |*", "%% %%", "50%%", "a |* b", "<3",
            "a <b> c".replacing("<b>", with: "< b >"),
            "{{name|Date of the draw}}", "{{name|size: L}}", "{{name|time: soon}}", "<?>", "a <? b", "%%% sale %%%",
            "[[ new ]]", "$new$", "{!}", "${ }", "#{1}", "$1$", "%(x)", "\\\\o/",
        ])
    func texts(text: String) throws {
        #expect(message(text) == "no error")
        #expect(try warnings(text) == [])
    }

    @Test(
        "What may be meant is a warning",
        arguments: [
            (
                "{{ name | upper }}",
                #"aps.alert: "{{name | upper}}" may be syntax of Liquid or Jinja, and is sent as text; write {{name}}; "#
            ),
            ("{{name|title}}", #"aps.alert: "{{name | title}}" may be syntax of Liquid or Jinja"#),
            ("{{name|'there'}}", #"aps.alert: the default "'there'" is sent with its quotes; write {{name|there}}"#),
            (
                "Hi ${user}",
                #"aps.alert: "${user}" may be syntax of JavaScript, Java or a shell, and is sent as text; write {{user}}"#
            ),
            ("Hi #{user}", ##"aps.alert: "#{user}" may be syntax of Ruby"##),
            ("{{name|time: 10:00}}", #"aps.alert: "{{name | time: 10:00}}" may be syntax of Liquid or Jinja"#),
            ("{{name|size(42)}}", #"aps.alert: "{{name | size(42)}}" may be syntax of Liquid or Jinja"#),
            ("{{name|uppercase}}", #"aps.alert: "{{name | uppercase}}" may be syntax of Liquid or Jinja"#),
            ("{{name|e}}", #"aps.alert: "{{name | e}}" may be syntax of Liquid or Jinja"#),
            ("{{name|sha256}}", #"aps.alert: "{{name | sha256}}" may be syntax of Liquid or Jinja"#),
            (
                "[[PRIZE]]",
                #"aps.alert: "[[PRIZE]]" may be syntax of mail programs, and is sent as text; write {{prize}}"#
            ),
            ("<<Prize>>", #"aps.alert: "<<Prize>>" may be syntax of mail programs"#),
            ("Win $prize$", #"aps.alert: "$prize$" may be syntax of StringTemplate"#),
            ("%% SALE %%", #"aps.alert: "%% SALE %%" may be syntax of Salesforce Marketing Cloud"#),
            ("Hi {name}", #"aps.alert: "{name}" may be syntax of Python or ICU, and is sent as text; write {{name}}"#),
            ("Tom &amp; Jerry", #"aps.alert: found "&amp;", an entity of HTML"#),
            ("Hi %s", #"aps.alert: found "%s", a placeholder"#),
            ("NULL", #"aps.alert: found "NULL", a word for no value"#),
            ("Hi <b>{{name}}</b>", #"aps.alert: found "<b>", a tag of HTML"#),
        ])
    func doubts(text: String, warning: String) throws {
        let found = try warnings(text)
        #expect(found.count == 1 && found[0].hasPrefix("suspect-text: \(warning)"), "\(found)")
    }

    private func warnings(ofData text: String) throws -> [String] {
        let json = #"{"aps":{"alert":"Hi"},"view":{"html":["\#(text.replacing("\"", with: "\\\""))"]}}"#
        let template = try PayloadTemplate(json: Array(json.utf8), columns: Self.columns, file: "t.json")
        return PayloadRules(template: template, pushType: .alert).templateFindings.map(\.message)
    }

    @Test(
        "What an app reads may be meant for the app: marks and names of filters in it are at most a warning",
        arguments: [
            "${name}", "%name%", "%%name%%", "{% if name %}", "<%= name %>", "*|NAME|*", "#{name}", "[[name]]",
            "app://offer?id={name}", "{{name|capitalize}}", "{{name|titleize}}", "{{name|linebreaks}}",
        ])
    func data(text: String) throws {
        let found = try warnings(ofData: text)
        #expect(found.count == 1 && found[0].hasPrefix("view.html[0]: ") && found[0].contains(" may be "), "\(found)")
    }

    @Test(
        "Data of an app, without a word",
        arguments: [
            "<?xml version=\"1.0\"?><a/>", "^[a-z]{2}$", "Hi %s", "Hi %@", "&amp;", "<b>x</b>", "None", "{}", "\\\\n",
            "{{name|uuid: 5}}",
        ])
    func plainData(text: String) throws { #expect(try warnings(ofData: text) == []) }

    @Test("A filter with an argument is refused wherever it stands, and a key is never looked at")
    func dataWithArguments() throws {
        for text in ["{{ name | default: 'x' }}", "{{name|truncate: 20}}", "{{name|date: '%d'}}"] {
            #expect(throws: TemplateError.self) { try warnings(ofData: text) }
        }
        let json = #"{"aps":{"alert":{"title":"Hi"}},"${name}":{"{% if %}":"%name"}}"#
        _ = try PayloadTemplate(json: Array(json.utf8), columns: Self.columns, file: "t.json")
    }

    @Test("A column that has such a name is read")
    func columns() throws {
        for name in ["#if", "else", ".Name", "${x}", "a ?? b", "a or b"] {
            let text = "{{\(name):text}}"
            _ = try PayloadTemplate(json: Array(json(text).utf8), columns: [name], file: "t.json")
        }
    }

    @Test("A text that is no JSON is looked at as well")
    func textTemplates() {
        let error = #expect(throws: TemplateError.self) {
            try TextTemplate("id-{{ name | default: 'x' }}", columns: Self.columns, name: "collapse_id")
        }
        #expect(error?.description.hasPrefix("collapse_id:1:4: ") == true)
    }

    @Test("A long text without an end of a mark takes linear time")
    func long() {
        let text = String(repeating: "{%a ", count: 5_000)
        #expect(message(text) == "no error")
    }
}
