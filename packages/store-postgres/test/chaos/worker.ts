import { once } from 'node:events'
import { redis } from '@allium/store-redis'
import { noteCut } from './bills.ts'
import { dying } from './dying.ts'
import { agentOn, type Job, open, principal } from './scene.ts'

/** One turn in a process of its own, which ends where the job says. */
process.send?.('loaded')
const [job] = (await once(process, 'message')) as [Job]
process.disconnect?.()
process.stdout.write('begun\n')
let reached = false
/** Once: nobody lets a process go on that has stopped again. */
const reach = (label: string) => {
  if (reached || label !== job.label) return
  reached = true
  if (label === 'model result') noteCut(job, true)
  // SQLite posts the last call with the end of its turn.
  if (label === 'commit' && job.kind === 'sqlite') noteCut(job, 'perhaps')
  process.kill(process.pid, job.signal)
}
const limits = job.redis === undefined ? undefined : redis(job.redis)
try {
  const store = job.label === 'migrate' ? dying(job, reach) : open(job)
  const session = agentOn(store, job, { reach, redis: limits }).session({ id: job.session, principal })
  const first = await session.run(`Pay ${job.key}`, { idempotencyKey: job.key })
  const [call] = session.pending
  if (call !== undefined) await session.resume({ [call.callId]: { approve: true, token: call.token ?? '' } })
  reach('acknowledge')
  process.stdout.write(`${JSON.stringify({ status: first.status })}\n`)
  await store.close()
} catch (error) {
  process.stdout.write(`${JSON.stringify({ failed: (error as { code?: string }).code ?? String(error) })}\n`)
  process.exitCode = 1
}
limits?.close()
