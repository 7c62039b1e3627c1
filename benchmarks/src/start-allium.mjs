import { Agent } from '@allium/core'
import { instructions, mock, weather } from './sides/mock.mjs'
import { tally } from './sides/tally.mjs'

const { add, check } = tally()
add(await new Agent({ model: mock({ steps: 1 }), instructions, tools: [weather] }).run('Hi'))
const values = { value: performance.now() }
console.log(JSON.stringify({ values, check: check() }))
