import { writeFileSync } from 'node:fs'
import { children } from '../../../store-postgres/test/chaos/children.ts'
import { Crew } from './crew.ts'
import { describeEnds, endTimes, lateEnds } from './ends.ts'
import type { Engine } from './engine.ts'
import { problemsOf, takeovers } from './judge.ts'
import { notesIn } from './notes.ts'
import { open } from './scene.ts'
import { type Clients, turn } from './turns.ts'

/** Turns at once, each lane with a session of its own, and the processes that share them. */
const lanes = 6
const processes = 3

export interface Trial {
  readonly engine: Engine
  readonly folder: string
  readonly count: number
  readonly random: () => number
  /** Whether an end that is reported late is a problem. On a machine with other work, it is not. */
  readonly isStrict: boolean
  /** Whether the server stays up. Otherwise it stops every few seconds during the second half of the kills. */
  readonly isSteady: boolean
}

/** All of it on one engine: a quiet turn, kills, then kills while the server goes away. */
export async function trial({ engine, folder, count, random, isStrict, isSteady }: Trial) {
  const { place, name, slowest, crashing } = engine
  writeFileSync(place.notes, '')
  const ready = await children(folder, 4, engine.worker)
  const store = open(place)
  await store.sessions.list({ tenant: 'acme', limit: 1 })
  const crew = new Crew(ready, place, random, engine.begun)
  const clients: Clients = { problems: crew.problems, ended: [], readers: { count: 0 }, waiting: new Map() }
  // Whoever ends it before its time is told where it stood.
  process.once('SIGTERM', () => {
    console.log(`${name}: ${crew.standing()}; waited for: ${[...clients.waiting.values()].join(', ') || 'nothing'}`)
    process.exit(1)
  })
  const client = engine.client(store, crew, random)
  let key = 0
  const one = (lane: number) => turn(client, store, { session: `s${lane}`, key: `k${++key}` }, clients)
  crew.begin(processes)
  // The first tells what an undisturbed one leaves.
  await one(0)
  const killing = async (kills: number) => {
    const goal = crew.kills + kills
    crew.murder(kills)
    const all = Array.from({ length: lanes }, async (_, lane) => {
      while (crew.kills < goal) await one(lane)
    })
    await Promise.all(all)
  }
  const quiet = crashing === undefined || isSteady ? count : Math.ceil(count / 2)
  await killing(quiet)
  const before = notesIn(place.notes)
  const [waits, ends] = [takeovers(before, place.lease), endTimes(before, place.lease)]
  const crashes = isSteady ? undefined : crashing?.()
  if (count > quiet) await killing(count - quiet)
  const { restarts } = (await crashes?.end()) ?? { restarts: 0 }
  // A session's last turn settles what lost processes have held.
  for (let lane = 0; lane < lanes; lane++) await one(lane)
  await crew.end()
  const notes = notesIn(place.notes)
  const problems = [...new Set([...clients.problems, ...(await problemsOf(store, notes, clients.ended))])]
  const [longest = 0, median = 0] = [waits.at(-1), waits[waits.length >> 1]]
  if (slowest !== undefined && longest > slowest)
    problems.push(`a killed run was taken over after ${longest.toFixed(2)} leases`)
  if (isStrict && slowest !== undefined) problems.push(...lateEnds(ends))
  await store.close()
  await ready.end()
  const [asked, taken] = [
    notes.filter(({ what }) => what === 'asked').length,
    slowest === undefined
      ? ''
      : `, taken over after ${median.toFixed(2)} leases (the longest of ${waits.length}: ${longest.toFixed(2)}), ${describeEnds(ends)}`,
  ]
  return {
    kills: crew.kills,
    problems: problems.map((problem) => `${name}: ${problem}`),
    told: `${name}: ${crew.kills} killed, ${crew.stops} stopped for two leases, ${clients.ended.length} turns of two runs, ${asked} model calls, ${clients.readers.count} readers${taken}, the server stopped ${restarts} times`,
  }
}
