/// The templates of pages, in Mustache. Double braces escape what they insert; triple ones only insert our own style sheet and plots.
enum PageTemplate {
    static let head = """
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>{{title}}</title>
        <style>{{{style}}}</style>
        </head>

        """

    static let report =
        head + """
            <body>
            <header class="verdict {{kind}}">
            <h1><b>{{kind}}:</b> <bdi>{{verdict}}</bdi></h1>
            <p><bdi>{{name}}</bdi> · {{time}} · {{work}}</p>
            <p class="soft"><bdi>{{input}}</bdi>{{#destination}} to <bdi>{{destination}}</bdi>{{/destination}} · <bdi>{{directory}}</bdi></p>
            </header>
            <main>
            {{#hasExpectations}}
            <h2>Expectations</h2>
            <div class="wide"><table>
            <thead><tr><th scope="col">expectation</th><th scope="col">result</th><th scope="col">found</th></tr></thead>
            <tbody>
            {{#expectations}}
            <tr><th scope="row">{{text}}</th><td class="{{class}}">{{result}}</td><td>{{found}}</td></tr>
            {{/expectations}}
            </tbody></table></div>
            {{/hasExpectations}}
            <h2>What to do next</h2>
            {{^hasSteps}}<p>Nothing.</p>{{/hasSteps}}
            {{#hasSteps}}
            <ol>
            {{#steps}}<li><bdi>{{text}}</bdi>{{#command}}<pre><code>{{command}}</code></pre>{{/command}}</li>
            {{/steps}}
            </ol>
            {{/hasSteps}}
            <h2>Where every row went</h2>
            <div class="shares" role="img" aria-label="{{sharesLabel}}">{{#shares}}<i class="c{{color}}" style="flex:{{rows}} 0 0"></i>{{/shares}}</div>
            <div class="wide"><table>
            <thead><tr><th scope="col">outcome</th><th scope="col" class="n">rows</th><th scope="col" class="n">share</th>{{#medianTitle}}<th scope="col" class="n">{{medianTitle}}</th>{{/medianTitle}}</tr></thead>
            <tbody>
            {{#outcomes}}
            <tr><th scope="row"><div class="name"><span class="c{{color}}" aria-hidden="true">■</span> {{outcome}}</div></th><td class="n">{{rows}}</td><td class="n">{{share}}</td>{{#medianTitle}}<td class="n">{{median}}{{#deviates}} <span class="flag">unusual</span>{{/deviates}}</td>{{/medianTitle}}</tr>
            {{/outcomes}}
            <tr><th scope="row">all{{#isEstimated}}, about{{/isEstimated}}</th><td class="n">{{rowsTotal}}</td><td class="n">100 %</td>{{#medianTitle}}<td></td>{{/medianTitle}}</tr>
            </tbody></table></div>
            {{#hasRemarks}}
            <ul class="remarks">
            {{#remarks}}<li><bdi>{{.}}</bdi></li>{{/remarks}}
            </ul>
            {{/hasRemarks}}
            {{#parts}}
            <h2>Parts</h2>
            <div class="wide"><table>
            <thead><tr><th scope="col">part</th><th scope="col" class="n">rows</th><th scope="col" class="n">accepted</th><th scope="col" class="n">rejected</th><th scope="col" class="n">others</th><th scope="col" class="n">left</th><th scope="col">verdict</th></tr></thead>
            <tbody>
            {{#lines}}
            <tr><th scope="row">{{part}}</th><td class="n">{{rows}}</td><td class="n">{{accepted}}</td><td class="n">{{rejected}}</td><td class="n">{{others}}</td><td class="n">{{left}}</td><td><span class="{{class}}">{{word}}</span> <span class="soft"><bdi>{{sentence}}</bdi></span></td></tr>
            {{/lines}}
            </tbody></table></div>
            {{#rest}}<p class="soft">{{rest}}</p>{{/rest}}
            {{/parts}}
            {{#hasReasons}}
            <h2>Reasons of APNs</h2>
            <div class="wide"><table>
            <thead><tr><th scope="col">reason</th><th scope="col" class="n">rows</th><th scope="col" class="n">share</th>{{#medianTitle}}<th scope="col" class="n">{{medianTitle}}</th>{{/medianTitle}}</tr></thead>
            <tbody>
            {{#reasons}}
            <tr class="open"><th scope="row"><div class="name"><bdi>{{reason}}</bdi> <span class="soft">{{outcome}}</span></div></th><td class="n">{{rows}}</td><td class="n">{{share}}</td>{{#medianTitle}}<td class="n">{{median}}{{#deviates}} <span class="flag">unusual</span>{{/deviates}}</td>{{/medianTitle}}</tr>
            <tr><td class="why" colspan="{{reasonColumns}}">{{explanation}}</td></tr>
            {{/reasons}}
            </tbody></table></div>
            {{#moreReasons}}<p class="soft">{{moreReasons}}</p>{{/moreReasons}}
            {{/hasReasons}}
            {{#breakdowns}}
            <h2><bdi>{{title}}</bdi></h2>
            <div class="wide"><table>
            <thead><tr><th scope="col">value</th><th scope="col" class="n">rows</th><th scope="col" class="n">share accepted</th>{{#heads}}<th scope="col" class="n">{{.}}</th>{{/heads}}</tr></thead>
            <tbody>
            {{#lines}}
            <tr><th scope="row"><div class="name"><bdi>{{name}}</bdi></div></th><td class="n">{{rows}}</td><td class="n">{{share}}</td>{{#counts}}<td class="n">{{.}}</td>{{/counts}}</tr>
            {{/lines}}
            </tbody></table></div>
            {{#rest}}<p class="soft">{{rest}}</p>{{/rest}}
            {{/breakdowns}}
            <h2>Over the night</h2>
            {{#courseNote}}<p class="soft">{{courseNote}}</p>{{/courseNote}}
            <div class="plots night">
            {{#plots}}
            {{> figure}}
            {{/plots}}
            </div>
            {{#hasEvents}}
            <ol class="soft">
            {{#events}}<li>{{time}}: <bdi>{{text}}</bdi></li>{{/events}}
            </ol>
            {{/hasEvents}}
            {{#distribution}}
            <h2>Answer times</h2>
            {{> figure}}
            {{/distribution}}
            <h2>Speed and connections</h2>
            <dl>
            {{#speed}}<dt>{{name}}</dt><dd><bdi>{{value}}</bdi></dd>
            {{/speed}}
            </dl>
            {{#hasInvalid}}
            <h2>Invalid rows</h2>
            <div class="wide"><table>
            <thead><tr><th scope="col">rule</th><th scope="col" class="n">rows</th><th scope="col">first places</th></tr></thead>
            <tbody>
            {{#invalid}}
            <tr><th scope="row">{{rule}}</th><td class="n">{{rows}}</td><td><bdi>{{places}}</bdi></td></tr>
            {{/invalid}}
            </tbody></table></div>
            {{/hasInvalid}}
            <h2>Configuration</h2>
            <dl>
            {{#settings}}<dt>{{key}}</dt><dd><bdi>{{value}}</bdi></dd>
            {{/settings}}
            </dl>
            </main>
            </body>
            </html>

            """

    static let comparison =
        head + """
            <body>
            <h1>{{title}}</h1>
            <main>
            <h2>Figures</h2>
            {{#tables}}
            <div class="wide"><table class="runs">
            <thead><tr><td></td>{{#names}}<th scope="col" class="n"><bdi>{{.}}</bdi></th>{{/names}}</tr></thead>
            <tbody>
            {{#lines}}
            <tr><th scope="row"><bdi>{{name}}</bdi></th>{{#values}}<td class="n">{{value}}{{#share}}<small>{{share}}</small>{{/share}}</td>{{/values}}</tr>
            {{/lines}}
            </tbody></table></div>
            {{/tables}}
            <h2>Throughput</h2>
            <div class="plots">
            {{#plots}}
            {{> figure}}
            {{/plots}}
            </div>
            <h2>Verdicts</h2>
            {{#runs}}
            <section class="verdict {{kind}}">
            <p><bdi>{{name}}</bdi> · <b>{{kind}}:</b> <bdi>{{verdict}}</bdi> <span class="soft"><bdi>{{directory}}</bdi></span></p>
            </section>
            {{/runs}}
            </main>
            </body>
            </html>

            """

    static let figure = """
        <figure><figcaption><bdi>{{title}}</bdi> <span>{{unit}}</span></figcaption>
        <ul class="legend">{{#legend}}<li><i class="{{shape}} c{{color}}"></i>{{name}}</li>{{/legend}}</ul>
        {{{svg}}}</figure>

        """
}
