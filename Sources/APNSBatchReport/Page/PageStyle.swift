/// The style sheet of the page.
enum PageStyle {
    private static let light = PlotColor.variables { $0.shades.light }
    private static let dark = PlotColor.variables { $0.shades.dark }

    static let css = """
        :root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--card:#f6f8fa;--rule:#d0d7de;\
        --good:#1a7f37;--look:#8a5300;--bad:#c4242c;\
        \(light)}
        @media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9da7b1;--paper:#0d1117;--card:#161b22;--rule:#30363d;\
        --good:#3fb950;--look:#e3a13a;--bad:#ff7b72;\
        \(dark)}}
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:68rem;padding:1rem 1rem 3rem;background:var(--paper);color:var(--ink);\
        font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
        h1{font-size:1.25rem;line-height:1.35;margin:0 0 .3rem}h2{font-size:1.05rem;margin:2.2rem 0 .5rem}
        p{margin:.3rem 0}.soft{color:var(--soft)}
        h1,td,th,p,li,code{overflow-wrap:anywhere}
        .verdict{border-left:.4rem solid var(--bad);background:var(--card);padding:.8rem 1rem;border-radius:.3rem}
        .verdict.OK{border-color:var(--good)}.verdict.LOOK{border-color:var(--look)}
        .verdict b{color:var(--bad)}.verdict.OK b{color:var(--good)}.verdict.LOOK b{color:var(--look)}
        section.verdict{margin:.4rem 0;padding:.3rem .8rem;font-size:.9rem}h1 bdi{font-weight:500}
        .remarks{margin:.6rem 0;padding-left:1.2rem}
        .runs thead th.n{min-width:5.5rem;overflow-wrap:anywhere}.runs tbody th,.runs thead td{position:sticky;left:0;background:var(--paper);\
        overflow-wrap:normal;min-width:8rem}.runs td.n:last-child,.runs th.n:last-child{padding-right:.6rem}.runs{margin-bottom:1.5rem}
        .runs small{display:block;color:var(--soft);font-size:.8rem}
        table{border-collapse:collapse;width:100%}
        th,td{padding:.3rem .6rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}
        th{font-weight:600;color:var(--soft);font-size:.85rem}tbody th{color:var(--ink);font-size:inherit}
        .n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}td.n:last-child,th.n:last-child{padding-right:0}thead th.n{white-space:normal;overflow-wrap:normal}
        .wide{overflow-x:auto}
        tr.open>*{border-bottom:0;padding-bottom:0}.why{color:var(--soft);font-size:.85rem;padding-top:0}.name{min-width:7.5rem}
        .flag{color:var(--bad);font-weight:600;font-size:.85rem}.met{color:var(--good)}.unmet{color:var(--bad);font-weight:600}
        .shares{display:flex;height:1.1rem;border-radius:.3rem;overflow:hidden;margin:.4rem 0 .8rem;gap:1px}
        .shares i{min-width:2px}
        pre{margin:.3rem 0;padding:.5rem .7rem;background:var(--card);border:1px solid var(--rule);border-radius:.3rem;\
        overflow-x:auto;white-space:pre-wrap;overflow-wrap:anywhere}
        code,pre{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
        .plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,28rem),1fr));gap:1.2rem 1.5rem}
        figure{margin:0;min-width:0;break-inside:avoid}.night figure:first-child{grid-column:1/-1}
        figcaption{font-weight:600}figcaption span{font-weight:400;color:var(--soft)}
        .legend{list-style:none;display:flex;flex-wrap:wrap;gap:.1rem 1rem;margin:.15rem 0 .35rem;padding:0;font-size:.85rem;color:var(--soft)}
        .legend i{display:inline-block;width:1.1rem;height:.65rem;margin-right:.35rem;border-radius:2px}
        .legend i.line{height:0;border-top:.2rem solid;vertical-align:middle;background:none}
        .legend i.dashed{height:0;border-top:.2rem dashed;vertical-align:middle;background:none}.legend i.range{opacity:.3}
        svg.plot{display:block;width:100%;height:234px;padding:14px 28px 40px 62px;overflow:visible}svg.plot svg{overflow:visible}
        svg.plot text{font-size:12px;fill:var(--soft)}text.y{text-anchor:end}text.x,text.moment{text-anchor:middle}
        .grid{stroke:var(--rule)}.axis{stroke:var(--soft)}.moment{stroke:var(--soft);stroke-dasharray:3 3}text.moment{stroke:none;font-weight:600}
        path.line{fill:none;stroke-width:1.6;vector-effect:non-scaling-stroke;stroke-linejoin:round}
        path.dashed{stroke-dasharray:6 4}path.area{stroke:none}path.range{stroke:none;opacity:.28}
        \(PlotColor.classes)
        path.line{stroke:currentColor}path.area,path.range,.span{fill:currentColor}.legend i,.shares i{background:currentColor}
        dl{display:grid;grid-template-columns:minmax(8rem,16rem) 1fr;gap:.25rem 1rem;margin:0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
        @media(max-width:34rem){body{padding:.7rem .7rem 2rem;font-size:14px}.minor text{display:none}\
        dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}th,td{padding-right:.4rem}.flag{display:block}.runs tbody th,.runs thead td{min-width:7rem;max-width:7.5rem;font-size:.85rem;overflow-wrap:anywhere}\
        .runs thead th.n{min-width:5rem;font-size:.75rem}}
        @media print{:root{color-scheme:light;--ink:#000;--soft:#444;--paper:#fff;--card:#fff;--rule:#bbb;--good:#1a7f37;--look:#8a5300;--bad:#c4242c;\
        \(light)}\
        body{max-width:none;padding:0;font-size:10pt}h2{break-after:avoid;margin-top:1.2rem}tr{break-inside:avoid}\
        .plots{grid-template-columns:1fr 1fr}.plots .minor text{display:none}.night figure:first-child .minor text{display:inline}\
        .runs{font-size:8pt}.runs small{font-size:7pt}.runs thead th.n{min-width:0}.runs tbody th,.runs thead td{position:static;min-width:0;max-width:none}.runs th,.runs td{padding-right:.3rem}path,.span,.shares i,.legend i{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
        """
}
