import { turnOf } from './rows/stack.mjs'
import { stack } from './sides/stack.mjs'
import { columns, short } from './table.mjs'
import { median, timed } from './timed.mjs'

// What each layer of the stack makes of the bare turn when it stands alone: `node packs.mjs [name]…`

const wanted = process.argv.slice(2)
const rounds = 40
const count = 100
const bare = await turnOf([])
const lines = []
for (const [name, layer] of Object.entries(stack)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const turn = await turnOf([layer()])
  const [added, ratios] = [[], []]
  for (let round = 0; round < rounds + 10; round++) {
    const [without, with_] = [await timed(count, bare), await timed(count, turn)]
    if (round < 10) continue
    added.push(with_ - without)
    ratios.push(with_ / without)
  }
  lines.push([name, `+${short(median(added))} µs`, `${short(median(ratios))} ×`])
}
console.log(columns([['layer', 'CPU', 'of the bare turn'], ...lines]))
