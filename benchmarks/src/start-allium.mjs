const started = performance.now()
const { Agent } = await import('@allium/core')
const { instructions, mock, weather } = await import('./sides/mock.mjs')
const { tally } = await import('./sides/tally.mjs')

const { add, check } = tally()
add(await new Agent({ model: mock({ steps: 1 }), instructions, tools: [weather] }).run('Hi'))
const values = { value: performance.now() - started }
console.log(JSON.stringify({ values, check: check() }))
