import { once } from 'node:events'
import { durable, type StartOptions } from '../../src/index.ts'
import { notingIn } from './notes.ts'
import { reaching } from './reaching.ts'
import { agentOn, type Job, open, quiet } from './scene.ts'
import { stepping, watched } from './watched.ts'

/** One of the processes that share the runs of a store. */
process.send?.('loaded')
const [job] = (await once(process, 'message')) as [Job]
const note = notingIn(job.notes)
const watch = { note, reach: reaching(job, note) }
const store = open(job)
const kept = watched(store, watch)

const runs = durable(stepping(agentOn(kept, watch, job.lease), watch), {
  store: kept,
  lease: job.lease,
  attempts: 50,
  logger: quiet,
})

process.on('message', ({ id, start }: { id?: number; start?: StartOptions }) => {
  if (start === undefined) return void end()
  const answer = (said: object) => process.connected && process.send?.({ id, ...said })
  runs.start(start).then(
    ({ run }) => answer({ run }),
    (error) => answer({ failed: `${(error as { code?: unknown }).code}: ${(error as Error).message}` }),
  )
})

// Nobody is left to ask for anything.
process.on('disconnect', () => process.exit())

async function end(): Promise<void> {
  await runs.drain()
  await store.close()
  process.exit()
}
