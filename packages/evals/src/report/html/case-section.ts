import { decisionsOf, meanOf } from '../compared-cases.ts'
import type { CaseReport, EvalCall, EvalDecision, ScoreReport, TrialReport } from '../report.ts'
import { count, plain } from '../words.ts'
import { html, type Markup, shortened } from './markup.ts'

/** A case of the page. */
export interface ShownCase {
  readonly one: CaseReport
  readonly before: CaseReport | undefined
  /** The id of its element. */
  readonly anchor: string
  /** The scorers whose failed gates it counts against. */
  readonly against: readonly string[]
}

/** How much of a case is shown. */
const limits = { trials: 5, calls: 30, text: 4000, json: 2000, line: 300 }

export function caseSection({ one, before, anchor, against }: ShownCase): Markup {
  const decisions = decisionsOf(one, before)
  const hidden = one.trials.length - limits.trials
  const labels = [...(one.group === undefined ? [] : [`group ${one.group}`]), ...(one.tags ?? [])].join(', ')
  return html`<details class="case" id="${anchor}"><summary><span class="name">${shortened(one.id, limits.line)}</span>${
    against.length === 0 ? undefined : html`<span class="verdict fail">against ${against.join(', ')}</span> `
  } ${scoresOf(one, before)}</summary><div>
${labels === '' ? undefined : html`<p class="soft">${shortened(labels, limits.line)}</p>`}
${list('Decisions', decisions)}
${one.trials.slice(0, limits.trials).map((trial, at) => trialSection(trial, at, before))}
${hidden > 0 ? html`<p class="soft">${count(hidden, 'more trial')}</p>` : undefined}
</div></details>
`
}

/** A line for a case without its trials. */
export function caseLine({ one, before, anchor }: ShownCase): Markup {
  return html`<li id="${anchor}"><span class="name">${shortened(one.id, limits.line)}</span> ${scoresOf(one, before)}</li>
`
}

function scoresOf(one: CaseReport, before: CaseReport | undefined): Markup[] {
  const scorers = [...new Set(one.trials.flatMap(({ scores }) => Object.keys(scores)))]
  return scorers.slice(0, 8).map((scorer) => {
    const now = meanOf(one, scorer, 'score') ?? meanOf(one, scorer, 'value')
    const earlier = before && (meanOf(before, scorer, 'score') ?? meanOf(before, scorer, 'value'))
    const was = earlier === undefined || earlier === now ? '' : `, was ${plain(earlier)}`
    return html`<span class="score">${scorer} ${now === undefined ? 'no score' : plain(now)}${was}</span> `
  })
}

function trialSection(trial: TrialReport, at: number, before: CaseReport | undefined): Markup {
  const { status, reason, text, calls, decisions, scores, steps, duration, usage } = trial
  const earlier = sameTrial(before, at)
  const used = `${count(steps, 'step')}, ${Math.round(duration)} ms, ${count(usage.inputTokens + usage.outputTokens, 'token')}`
  return html`<h4>Trial ${at + 1}: ${status}</h4>
<p class="soft">${used}</p>
${reason === undefined ? undefined : html`<p>${shortened(reason, limits.text)}</p>`}
<div class="text" dir="auto">${text === '' ? '(no text)' : shortened(text, limits.text)}</div>
${earlier === undefined || earlier.text === text ? undefined : html`<p>In the baseline:</p><div class="text" dir="auto">${shortened(earlier.text, limits.text)}</div>`}
${list('Scores', Object.entries(scores).map(scoreWords))}
${list('Tool calls', calls.slice(0, limits.calls).map(callWords))}
${list('Layers', decisions.slice(0, limits.calls).map(decisionWords))}`
}

function sameTrial(before: CaseReport | undefined, at: number): TrialReport | undefined {
  return before?.trials[at % before.trials.length]
}

function scoreWords([name, score]: [string, ScoreReport]): string {
  if ('invalid' in score) return `${name}: no score. ${shortened(score.invalid, limits.line)}`
  const numbers = [score.score, score.value === undefined ? undefined : `value ${plain(score.value)}`]
  const shown = numbers.filter((one) => one !== undefined).map((one) => (typeof one === 'number' ? plain(one) : one))
  return `${name}: ${shown.join(', ')}${score.reason === undefined ? '' : `. ${shortened(score.reason, limits.text)}`}`
}

function callWords({ name, args, status, content }: EvalCall): string {
  return `${name}(${shortened(JSON.stringify(args) ?? '', limits.json)}) ${status}: ${shortened(content, limits.json)}`
}

function decisionWords({ layer, decision, tool, reason }: EvalDecision): string {
  return `"${layer}" ${decision}${tool === undefined ? '' : ` ${tool}`}${reason === undefined ? '' : `: ${shortened(reason, limits.text)}`}`
}

function list(title: string, texts: readonly string[]): Markup | undefined {
  if (texts.length === 0) return undefined
  return html`<p>${title}:</p><ul>${texts.map((text) => html`<li>${text}</li>`)}</ul>`
}
