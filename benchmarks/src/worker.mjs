import { rows } from './rows/index.mjs'
import { median } from './timed.mjs'

// One row, one side, in a process of its own: `node worker.mjs <row> <side>` prints its medians and its check value.
const [id, name] = process.argv.slice(2)
const row = rows.find((row) => row.id === id)
const side = row?.sides?.[name]
if (side === undefined) throw new Error(`There is no side "${name}" of a row "${id}".`)

const { sample, check } = await side()
const { warmups = 40, samples = 11 } = row
for (let i = 0; i < warmups; i++) await sample()
const taken = []
for (let i = 0; i < samples; i++) taken.push(await sample())

const values = {}
for (const key of Object.keys(named(taken[0]))) values[key] = median(taken.map((value) => named(value)[key]))
console.log(JSON.stringify({ values, check: check() }))

/** A sample is one number, or several by name. */
function named(value) {
  return typeof value === 'number' ? { value } : value
}
