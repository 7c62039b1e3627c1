import { layers } from './layers.ts'
import { type Soaked, soak } from './soak.ts'

/**
 * `npm run soak`: 100,000 turns, half of them over all layers, with a session of 5,000 turns, half over each layer alone.
 * The exit code is 1 where memory grows, or where a session that nobody closed stays.
 */
const turns = Number(process.argv[2] ?? 100_000)
if (globalThis.gc === undefined) throw new Error('The soak needs "node --expose-gc".')

const ofEach = Math.ceil(turns / 2 / Object.keys(layers).length)
await soak([], 1000, 0)
show('no layer', '1,000 idempotency keys, those of runs under way not counted', await soak([], ofEach, 0))
for (const [name, { make, bound }] of Object.entries(layers)) show(name, bound, await soak([make()], ofEach, 0))

const all = Object.values(layers).map(({ make }) => make())
const long = Math.floor(turns / 20)
show('all layers', `a session of ${long} turns, all of which it keeps`, await soak(all, turns / 2, long))

/** Code that grows warm and caches that fill leave bytes too: what a turn may leave falls with their number. */
function show(name: string, bound: string, { perTurn, alive, turns, took }: Soaked): void {
  const leaks = alive > 0 || perTurn > 500 + 5_000_000 / turns
  if (leaks) process.exitCode = 1
  const figures = [
    `${turns} turns`,
    `${(took / turns).toFixed(2)} ms`,
    `${perTurn.toFixed(0)} bytes`,
    `${alive} sessions`,
  ]
  console.log(
    [name.padEnd(17), ...figures.map((text) => text.padStart(13)), leaks ? 'LEAKS' : 'level', bound].join('  '),
  )
}
