import { once } from 'node:events'
import { open } from '../kills/life.ts'
import { endOf, principal, processOf, watchedRuns } from './process.ts'
import { sharedPlace } from './shared-place.ts'
import type { Job } from './start-killed.ts'

/** A process with the old build. It starts a run, and kills itself before it records a step too many. */
process.send?.('loaded')
const [{ where, name, before, dieAfter }] = (await once(process, 'message')) as [Job]
process.disconnect?.()
const store = open(where)
const place = { ...sharedPlace(store), name, lease: 1000 }
let count = 0
const runs = watchedRuns(store.runs, () => {
  if (++count > dieAfter) process.kill(process.pid, 'SIGKILL')
})
const first = processOf(place, '1', before, { onEffect() {}, runs })
const { run } = await first.start({ principal, sessionId: 'chat', input: 'Go.' })
await endOf(first, run, place)
await first.drain()
await store.close()
