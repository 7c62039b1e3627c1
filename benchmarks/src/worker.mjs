import { rows } from './rows/index.mjs'

// One side of one row, in a process of its own: warms up, then takes a sample whenever the runner asks for one.
const [id, name] = process.argv.slice(2)
const row = rows.find((row) => row.id === id)
const side = row?.sides?.[name]
if (side === undefined) throw new Error(`There is no side "${name}" of a row "${id}".`)

const { sample, check } = await side()
const { warmups = 3, warmth = 2000 } = row
const began = performance.now()
for (let i = 0; i < warmups || performance.now() - began < warmth; i++) await sample()

process.on('message', async (asked) => {
  if (asked === 'sample') return process.send(named(await sample()))
  process.send(check())
})
process.on('disconnect', () => process.exit())
process.send('warm')

/** A sample is one number, or several by name. */
function named(value) {
  return typeof value === 'number' ? { value } : value
}
