import { once } from 'node:events'
import type { Agent } from '@allium/core'
import { durableRestate } from '../../../durable-restate/src/index.ts'
import { serveHere } from '../../../durable-restate/test/server.ts'
import { notingIn } from './notes.ts'
import { reaching } from './reaching.ts'
import { agentOn, type Job, open } from './scene.ts'
import { stepping, watched } from './watched.ts'

/** One of the processes that Restate has its runs run by. */
process.send?.('loaded')
const [job] = (await once(process, 'message')) as [Job]
const note = notingIn(job.notes)
const watch = { note, reach: reaching(job, note) }
const store = open(job)
const { object } = durableRestate(
  stepping(agentOn(watched(store, watch), watch, job.lease), watch) as unknown as Agent,
  {
    name: 'desk',
  },
)
const endpoint = await serveHere([object])
process.send?.({ port: endpoint.port })

process.on('message', end)
// Nobody is left to ask for anything.
process.on('disconnect', () => process.exit())

async function end(): Promise<void> {
  await endpoint.close()
  await store.close()
  process.exit()
}
