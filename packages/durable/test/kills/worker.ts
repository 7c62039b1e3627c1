import { once } from 'node:events'
import type { Entry } from '../../src/index.ts'
import { durableOn, type Life, open, principal } from './life.ts'

/** One process of a run: it begins it, or goes on with it, and reads it to its end. */
process.send?.('loaded')
const [life] = (await once(process, 'message')) as [Life]
process.disconnect?.()
const store = open(life)
const runs = durableOn(store, life)
const { run } = await runs.start({
  principal,
  sessionId: life.session,
  input: 'Book it.',
  idempotencyKey: life.session,
})
let text = ''
for await (const { event } of runs.attach(run, { principal })) {
  const { type, delta } = (event as Entry).event as { type: string; delta?: string }
  if (type === 'model:reset' || type === 'step:start') text = ''
  if (type === 'text-delta') text += delta
}
const { status, text: stored, code, reason } = await runs.get(run, { principal })
process.stdout.write(JSON.stringify({ status, stored, text, code, reason }))
await runs.drain()
await store.close()
