import { gateWords, oneLine, plain, weakCases } from './gate-words.ts'
import type { EvalReport } from './report.ts'

/**
 * Returns a report as Markdown, for the comment of a pull request: the verdict, a table of the gates, and the weakest cases of each gate
 * that did not pass. Texts of models are escaped: they mention nobody, and add no link, image or HTML.
 */
export function markdownReport(report: EvalReport): string {
  const { agent, cases, trials, verdict, gates, scorers } = report
  const rows = gates
    .map(gateWords)
    .map(
      ({ scorer, gate, verdict: of, result, reason }) =>
        `| **${of}** | ${code(scorer)} | ${gate} | ${result} | ${reason} |`,
    )
  const gated = new Set(gates.map(({ scorer }) => scorer))
  const others = Object.entries(scorers).filter(([name]) => !gated.has(name))
  const means = others.map(([name, { score, value }]) => {
    const shown = score ?? value
    return `| | ${code(name)} | | ${shown === undefined ? '' : plain(shown)} | |`
  })
  const weak = gates.filter((gate) => gate.verdict !== 'pass').flatMap(({ scorer }) => weakSection(report, scorer))
  return [
    `### Evals of ${code(agent.name)}: ${verdict ?? 'no gates'}`,
    '',
    `${cases.length} cases, ${trials} trials each.`,
    '',
    '| verdict | scorer | gate | result | |',
    '|---|---|---|---|---|',
    ...rows,
    ...means,
    '',
    ...weak,
  ].join('\n')
}

function weakSection(report: EvalReport, scorer: string): string[] {
  const weak = weakCases(report, scorer)
  if (weak.length === 0) return []
  return [
    `<details><summary>Lowest scores of ${escaped(scorer)}</summary>`,
    '',
    '| case | score | reason | decisions |',
    '|---|--:|---|---|',
    ...weak.map(
      ({ id, score, reason, decisions }) =>
        `| ${code(id)} | ${plain(score)} | ${escaped(reason)} | ${decisions.map(code).join(', ')} |`,
    ),
    '',
    '</details>',
    '',
  ]
}

/** Code without anything that could end it, or the cell. */
function code(text: string): string {
  return `\`${oneLine(text).replace(/[`|\\]/g, "'")}\``
}

/** A text without markup: every character that Markdown, HTML or a mention might need becomes an entity. */
function escaped(text: string): string {
  return oneLine(text).replace(/[^\p{L}\p{N} .,]/gu, (character) => `&#${character.codePointAt(0)};`)
}
