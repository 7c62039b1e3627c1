import type { Lease } from '@allium/core'
import { manualClock } from '@allium/testing'
import type { DeployCase } from './cases.ts'
import type { Effect } from './layers.ts'
import { endOf, type Place, principal, processOf, watchedRuns } from './process.ts'

/** Starts the run in a process that is lost, or that ends it before. Returns the effects that happened in it, if they are known. */
export type Start = (
  place: Place,
  of: DeployCase,
) => Promise<{ run: string; isLost: boolean; happened?: readonly Effect[] }>

/** Loses a process in this one: the record of its next step is never written, its clock stands still, and its lease expires. */
export const startHere: Start = async (place, { before, dieAfter }) => {
  const happened: Effect[] = []
  let count = 0
  let lose = (_: Lease) => {}
  const lost = new Promise<Lease>((resolve) => (lose = resolve))
  const runs = watchedRuns(place.store.runs, (lease) => {
    if (++count <= dieAfter) return undefined
    lose(lease)
    return new Promise(() => {})
  })
  const first = processOf(place, '1', before, {
    onEffect: (effect) => void happened.push(effect),
    ...{ runs, clock: manualClock(), lease: 600_000 },
  })
  const { run } = await first.start({ principal, sessionId: 'chat', input: 'Go.' })
  const lease = await Promise.race([lost, endOf(first, run, { ...place, pass: place.soon }).then(() => undefined)])
  if (lease === undefined) return { run, isLost: false }
  await place.store.runs.renew([lease], 1)
  await place.pass(10)
  return { run, isLost: true, happened }
}
