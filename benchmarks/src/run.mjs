import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { measure } from './processes.mjs'
import { rows } from './rows/index.mjs'
import { table } from './table.mjs'
import { linesOf, machineFactor } from './verdict.mjs'

const { values: options, positionals } = parseArgs({
  options: { json: { type: 'boolean' }, quick: { type: 'boolean' } },
  allowPositionals: true,
})
const unknown = positionals.filter((id) => !rows.some((row) => row.id === id))
if (unknown.length > 0)
  throw new Error(`No row "${unknown.join('", "')}". There are: ${rows.map(({ id }) => id).join(', ')}.`)

// The machine factor needs the row "tool".
const chosen = rows.filter(({ id }) => positionals.length === 0 || id === 'tool' || positionals.includes(id))
const [rounds, most] = options.quick ? [2, 5] : [5, 15]
const medians = measure(chosen, (row) => Math.min(row.rounds ?? rounds, most), progress)
progress('')

const factor = machineFactor(medians)
const lines = chosen.flatMap((row) => linesOf(row, medians.get(row.id), factor))
const machine = `Node ${process.version}, ${cpus()[0].model}, ${factor.toFixed(2)} × the time of the machine of the budgets`
console.log(`${machine}\n\n${table(lines)}\n\n${summary()}`)
if (options.json) save()

function summary() {
  const missed = lines.filter(({ met }) => !met)
  const scaled = missed.filter(({ metScaled }) => metScaled === true)
  return `${lines.length - missed.length} of ${lines.length} budgets met as written; ${scaled.length} more if scaled. All sides did the same work.`
}

function save() {
  const folder = new URL('../results/', import.meta.url)
  const file = new URL(`${new Date().toISOString().replaceAll(':', '-')}.json`, folder)
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, `${JSON.stringify({ machine, factor, rounds, lines }, undefined, 2)}\n`)
  console.log(`Written to ${file.pathname}`)
}

function progress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}`)
}
