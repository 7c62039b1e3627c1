const started = performance.now()
const { conversation, loop } = await import('./sides/loop.mjs')
const { mock, weather } = await import('./sides/mock.mjs')
const { tally } = await import('./sides/tally.mjs')

const { add, check } = tally()
add(await loop({ model: mock({ steps: 1 }), tools: new Map([[weather.name, weather]]) }, conversation(), 'Hi'))
const values = { value: performance.now() - started }
console.log(JSON.stringify({ values, check: check() }))
