import { mkdtempSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { rows } from './rows/index.mjs'

// `node profile.mjs <row> [side]`: where the time goes, by function, once the code is warm.
const [id, name = 'allium'] = process.argv.slice(2)
const row = rows.find((row) => row.id === id)
const side = row?.sides?.[name]
if (side === undefined)
  throw new Error(`Give one of ${profiled()}. For the others: node --cpu-prof benchmarks/src/start-allium.mjs`)

const { sample } = await side()
const { warmups = 8, samples = 11 } = row
for (let i = 0; i < warmups; i++) await sample()

const inspector = new Session()
inspector.connect()
await inspector.post('Profiler.enable')
await inspector.post('Profiler.setSamplingInterval', { interval: 200 })
await inspector.post('Profiler.start')
for (let i = 0; i < samples * 3; i++) await sample()
const { profile } = await inspector.post('Profiler.stop')
print(profile)

const file = join(mkdtempSync(join(tmpdir(), 'profile-')), `${id}-${name}.cpuprofile`)
writeFileSync(file, JSON.stringify(profile))
console.log(`\nChrome's DevTools opens ${file}`)

function print({ nodes, samples, timeDeltas }) {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]))
  const self = new Map()
  for (const [i, node] of samples.entries()) {
    const place = places.get(node)
    self.set(place, (self.get(place) ?? 0) + timeDeltas[i])
  }
  const total = timeDeltas.reduce((sum, delta) => sum + delta, 0)
  console.log(`${row.title}, ${name}: self time by function, of ${Math.round(total / 1000)} ms\n`)
  for (const [place, time] of [...self].sort((a, b) => b[1] - a[1]).slice(0, 30))
    console.log(`${((time / total) * 100).toFixed(1).padStart(5)} %  ${place}`)
}

function placeOf({ functionName, url, lineNumber }) {
  return `${functionName || '(anonymous)'}${url === '' ? '' : `  ${basename(url)}:${lineNumber + 1}`}`
}

function profiled() {
  const ids = rows.filter(({ sides }) => sides !== undefined).map(({ id }) => id)
  return `the rows ${ids.join(', ')} and one of its sides`
}
