import { conversation, loop } from './sides/loop.mjs'
import { mock, weather } from './sides/mock.mjs'
import { tally } from './sides/tally.mjs'

const { add, check } = tally()
add(await loop({ model: mock({ steps: 1 }), tools: new Map([[weather.name, weather]]) }, conversation(), 'Hi'))
const values = { value: performance.now() }
console.log(JSON.stringify({ values, check: check() }))
