import { costs } from './costs.mjs'
import { injection } from './injection.mjs'
import { quality } from './measure.mjs'
import { sides } from './peers.mjs'
import { readmes } from './readmes.mjs'

/** Recall and precision of the guards on a labelled set, beside others, and what they cost. Prints Markdown. */
export async function guards() {
  const all = await sides()
  const measured = {}
  for (const [name, side] of Object.entries(all)) measured[name] = await quality(side)
  console.log(qualityTable(measured))
  const texts = readmes()
  const mb = texts.join('').length / 1_000_000
  const rows = []
  for (const name of ['Allium', '@openai/guardrails']) rows.push([name, (await hits(all[name], texts)) / mb])
  console.log(
    `\nFalse keys per MB of READMEs (${mb.toFixed(1)} MB): ${rows.map(([name, rate]) => `${name} ${rate.toFixed(1)}`).join(', ')}\n`,
  )
  const { pii, content } = await costs()
  console.log(
    `Cost, in times of normalize('NFKC') of the same text: pii ${pii.toFixed(1)}, content with 1,000 keywords ${content.toFixed(1)}\n`,
  )
  console.log(injectionTable(await injection()))
}

function qualityTable(measured) {
  const names = Object.keys(measured)
  const [first] = Object.values(measured)
  const cell = ({ recall, precision }) => (precision === undefined ? '–' : `${percent(recall)} / ${percent(precision)}`)
  const rows = Object.entries(first).map(([type, { values }]) => [
    `\`${type}\``,
    String(values),
    ...names.map((name) => cell(measured[name][type])),
  ])
  return table([['type', 'values', ...names], ...rows])
}

function injectionTable({ kinds, benign }) {
  const row = ([kind, { texts, hits }]) => [kind, String(texts), percent(hits / texts)]
  return table([
    ['`guard.injection` at its default', 'texts', 'taken for an attack'],
    ...Object.entries(kinds).map(row),
    row(['benign requests', benign]),
  ])
}

async function hits(side, texts) {
  let count = 0
  for (const text of texts) count += (await side(text)).found.api_key ?? 0
  return count
}

const percent = (share) => `${(share * 100).toFixed(1).replace(/\.0$/, '')} %`

function table([heads, ...rows]) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}
