/** The style of the page. `styleHash` must be its hash: a test compares them. */
export const pageStyle = `
:root { color-scheme: light dark; --text: #1c2024; --soft: #555d66; --line: #d5dae0; --page: #fff; --card: #f6f7f9; --link: #0b57b7;
  --pass: #146c2e; --fail: #b3141d; --undecided: #7a5200; --invalid: #7b2a9e }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8eaed; --soft: #aab2bc; --line: #3a4149; --page: #14171a; --card: #1e2226; --link: #8ab8ff;
    --pass: #6fd58a; --fail: #ff9a94; --undecided: #f2c14e; --invalid: #dca6f5 }
}
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page) }
header, main { max-width: 60rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.5rem; margin: 0 }
h2 { font-size: 1.3rem; margin: 2rem 0 .25rem; padding-top: 1rem; border-top: 1px solid var(--line) }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .5rem }
h4 { font-size: 1rem; margin: 1rem 0 .25rem }
p, ul, dl, pre { margin: .25rem 0 .5rem }
a { color: var(--link) }
h1, h2, h3, h4, p, li, dd, summary { overflow-wrap: anywhere }
.soft { color: var(--soft) }
.pass { color: var(--pass) } .fail { color: var(--fail) } .undecided { color: var(--undecided) } .invalid { color: var(--invalid) }
.verdict { font-weight: 650 }
.verdict::before { content: ''; display: inline-block; width: .6em; height: .6em; margin-right: .4em; border-radius: 50%; background: currentColor }
.plain { list-style: none; padding: 0 }
.gate { margin: .75rem 0; padding: .75rem 1rem; border: 1px solid var(--line); border-left: 4px solid currentColor; border-radius: 6px; background: var(--card) }
.gate > * { color: var(--text) }
.gate h4 { margin: 0 }
.gate .verdict.pass { color: var(--pass) } .gate .verdict.fail { color: var(--fail) }
.gate .verdict.undecided { color: var(--undecided) } .gate .verdict.invalid { color: var(--invalid) }
.chart { display: block; width: 100%; max-width: 30rem; height: 3rem; margin: .25rem 0 }
.chart .axis { stroke: var(--line); stroke-width: 2 }
.chart .zone { fill: var(--pass); opacity: .15 }
.chart .limit { stroke: var(--text); stroke-width: 2; stroke-dasharray: 4 3 }
.chart .range { stroke: currentColor; stroke-width: 6; stroke-linecap: round }
.chart .mean { fill: currentColor; stroke: var(--card); stroke-width: 2 }
.case { border-bottom: 1px solid var(--line) }
.case:target { background: var(--card) }
summary { padding: .5rem .25rem; cursor: pointer }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.case > div { padding: 0 .25rem 1rem 1.25rem }
.name { font-weight: 600; margin-right: .75em }
.score { margin-right: .75em; white-space: nowrap }
.text { padding: .5rem .75rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card); white-space: pre-wrap; overflow-wrap: anywhere; font: .9rem/1.45 ui-monospace, monospace }
@media (max-width: 30rem) { .case > div { padding-left: .25rem } .gate { padding: .75rem } }
@media print { details > div { display: block } }
`

/** For the Content-Security-Policy of the page. */
export const styleHash = 'sha256-ohxEdbwI4pDUWPoOPc/nA/kZOj/bXWwju0OTzirDIKs='
