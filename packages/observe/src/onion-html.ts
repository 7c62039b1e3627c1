import { oneLine } from './one-line.ts'
import { headingOf, inMs, unknownTurn } from './onion-heading.ts'
import { decisionText, weights } from './onion-text.ts'
import type { OnionSpan, OnionTurn } from './onion-turn.ts'

/**
 * Returns a turn as a standalone HTML page, with an explanation and each layer as a bar over time. It loads no resources and runs no
 * scripts.
 */
export function turnToHTML(turnId: string, turn: OnionTurn | undefined, explanation: string): string {
  const title = turn === undefined ? unknownTurn(turnId) : headingOf(turn)
  const [, ...deeds] = explanation.split('\n')
  const picture =
    turn === undefined ? '' : `<table>\n${head}\n${[...rowsOf(turn.root, turn.duration, 0)].join('\n')}\n</table>\n`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>${asText(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${asText(title)}</h1>
<ul>
${deeds.map((deed) => `<li>${asText(deed)}</li>`).join('\n')}
</ul>
${picture}</body>
</html>
`
}

const head = '<tr><th>Layer</th><th>Own time</th><th>What it did</th><th>When</th></tr>'

function* rowsOf(span: OnionSpan, total: number, depth: number, outer?: OnionSpan): Generator<string> {
  const { scope, subject, layer, core, start, duration, self, decision, changed = [], children } = span
  const call =
    scope === outer?.scope ? '' : `<i>${asText(subject === undefined || core ? scope : `${scope} ${subject}`)}</i> `
  const name = core ? `${call}${asText(layer)}` : `${call}<b>${asText(layer)}</b>`
  const notes = changed.flatMap(({ field, note }) => (note === undefined ? [] : [`${field} ${note}`])).join(', ')
  const decisionCell = `<span class="${weights[decision]}" title="${asText(notes)}">${asText(decisionText(span))}</span>`
  const percentOf = (ms: number) => (total > 0 ? Math.min(100, Math.max(0, (100 * ms) / total)) : 0).toFixed(2)
  const bar = `<div class="bar ${weights[decision]}" style="margin-left:${percentOf(start)}%;width:${percentOf(duration)}%"></div>`
  yield `<tr><td style="padding-left:${8 + 16 * Math.min(depth, 40)}px">${name}</td><td class="time">${inMs(self)}</td><td>${decisionCell}</td><td class="when">${bar}</td></tr>`
  for (const child of children) yield* rowsOf(child, total, depth + 1, span)
}

const style = `
:root { color-scheme: light dark }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; max-width: 90rem }
h1 { font-size: 1.2rem }
table { border-collapse: collapse; width: 100% }
th { text-align: left; font-weight: 500; opacity: .6 }
th, td { padding: 2px 8px; border-bottom: 1px solid #8883; vertical-align: top }
i { opacity: .6 }
.time { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.when { width: 40%; min-width: 12rem }
.bar { height: .8em; margin-top: .35em; min-width: 2px; background: currentColor }
.passed { opacity: .6 } .changed { color: #b37400 } .stopped { color: #c9372c }
`

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Escapes text for HTML content and attributes. */
function asText(text: string): string {
  return oneLine(text, 1000).replace(/[&<>"']/g, (char) => entities[char] as string)
}
