import type { GateReport } from '../../gates/gate.ts'
import { type ComparedCase, casesAgainst, invalidReasons, sameCase } from '../compared-cases.ts'
import type { ReportPart } from '../options.ts'
import type { EvalReport } from '../report.ts'
import { calibrations, count, gateWords, oneLine, otherScores, plain, usageWords } from '../words.ts'
import { caseLine, caseSection, type ShownCase } from './case-section.ts'
import { intervalChart } from './interval-chart.ts'
import { html, type Markup } from './markup.ts'

/** Characters of an evaluation's cases with their trials. The others are lines. */
const room = 4_000_000

/** How many cases against a gate are linked. The list of cases has all of them. */
const shownLinks = 20

/** @param anchor the id of its element, and the start of the ids of its cases */
export function evalSection({ name, report, baseline }: ReportPart, anchor: string): Markup {
  const { agent, cases, trials, verdict, gates } = report
  const shown = shownCases(report, baseline, anchor)
  const anchors = new Map(shown.map((one) => [one.one.id, one.anchor]))
  const others = otherScores(report)
  const version = agent.version === undefined ? '' : ` ${agent.version}`
  const compared = baseline === undefined ? '' : ', compared with a baseline'
  return html`<section aria-labelledby="${anchor}">
<h2 id="${anchor}">${oneLine(name ?? agent.name)} ${verdict === undefined ? undefined : html`<span class="verdict ${verdict}">${verdict}</span>`}</h2>
<p>${agent.name + version === name ? '' : `Agent ${oneLine(agent.name + version)}: `}${count(cases.length, 'case')}, ${count(trials, 'trial')} each${compared}.</p>
<p class="soft">${usageWords(report)}</p>
${calibrations(report).map((text) => html`<p class="soft">${text}</p>`)}
${gates.length === 0 ? undefined : html`<h3>Gates</h3><ul class="plain">${gates.map((gate) => gateItem(gate, { report, baseline }, anchors))}</ul>`}
${others.length === 0 ? undefined : html`<h3>Other scores</h3><ul>${others.map((one) => html`<li>${oneLine(one.name)}: ${one.result}</li>`)}</ul>`}
<h3>Cases</h3>
${caseList(shown)}
</section>`
}

function gateItem(gate: GateReport, { report, baseline }: ReportPart, anchors: ReadonlyMap<string, string>): Markup {
  const { scorer, gate: condition, verdict, result, reason } = gateWords(gate)
  const against = verdict === 'pass' ? [] : casesAgainst(gate, report, baseline)
  const invalid = verdict === 'pass' ? [] : invalidReasons(report, scorer).slice(0, 5)
  return html`<li class="gate ${verdict}"><h4>${oneLine(scorer)}: ${condition}</h4>
<p><span class="verdict ${verdict}">${verdict}</span> ${result}</p>
${intervalChart(gate)}
<p>${reason}</p>
${invalid.map((one) => html`<p>${count(one.trials, 'trial')} without a score: ${one.reason}</p>`)}
${against.length === 0 ? undefined : html`<details${verdict === 'fail' ? ' open' : ''}><summary>${count(against.length, 'case')} against it</summary><ul>${against.slice(0, shownLinks).map((one) => againstItem(one, anchors))}</ul></details>`}
</li>`
}

function againstItem(
  { id, now, before, reason, decisions }: ComparedCase,
  anchors: ReadonlyMap<string, string>,
): Markup {
  const was = before === undefined ? '' : `, was ${plain(before)}`
  const why = [reason, ...decisions.slice(0, 10)].filter((text) => text !== '').join(' · ')
  return html`<li><a href="#${anchors.get(id) ?? ''}">${oneLine(id)}</a>: ${plain(now ?? 0)}${was}${why === '' ? '' : `. ${why}`}</li>`
}

/** The cases against failed gates first. */
function shownCases(report: EvalReport, baseline: EvalReport | undefined, anchor: string): ShownCase[] {
  const failed = report.gates.filter(({ verdict }) => verdict === 'fail')
  const against = new Map<string, string[]>()
  for (const gate of failed)
    for (const { id } of casesAgainst(gate, report, baseline))
      against.set(id, [...new Set(against.get(id)).add(gate.scorer)])
  const before = new Map(baseline?.cases.map((one) => [one.id, one]))
  const shown = report.cases.map((one, at) => ({
    one,
    before: sameCase(one, before.get(one.id)),
    anchor: `${anchor}-case-${at + 1}`,
    against: against.get(one.id) ?? [],
  }))
  return [...shown.filter((one) => one.against.length > 0), ...shown.filter((one) => one.against.length === 0)]
}

function caseList(cases: readonly ShownCase[]): Markup {
  const [sections, lines]: [Markup[], Markup[]] = [[], []]
  let used = 0
  for (const one of cases) {
    const section = used < room ? caseSection(one) : undefined
    used += section?.text.length ?? 0
    if (section !== undefined) sections.push(section)
    else lines.push(caseLine(one))
  }
  return html`${sections}${lines.length === 0 ? undefined : html`<p>${count(lines.length, 'more case')}, without their trials:</p><ul class="plain">${lines}</ul>`}`
}
