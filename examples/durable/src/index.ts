/** Starts one run, or continues it if an earlier process was killed. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Entry } from '@allium/durable'
import { open, principal, version } from './journey-agent.ts'

const { store, runs } = open()
// The key makes it the same run, however often the program starts.
const task = { principal, sessionId: 'journey', input: 'Book the train and the room.', idempotencyKey: 'journey-1' }
const { run } = await runs.start(task)
const { status: found } = await runs.get(run, { principal })
console.log(`run      ${found}`)
if (found === 'running') await moveToThisVersion()

for await (const { event } of runs.attach(run, { principal })) show((event as Entry).event)

const { status, text } = await runs.get(run, { principal })
console.log(`\nstatus   ${status}`)
console.log(`answer   ${text}`)
await runs.drain()
store.close()

/** Continues a run of another version with this code, once the lease of its lost process has expired. */
async function moveToThisVersion(): Promise<void> {
  for (;;) {
    const { fits, moved, reason, replayed } = await runs.migrate(run, { principal, to: version })
    if (!fits) throw new Error(`The run needs its original version. ${reason}`)
    if (moved && replayed > 0) console.log(`moved    to version ${version}, after ${replayed} replayed steps`)
    if (moved) return
    await wait(500)
  }
}

function show(event: Entry['event']): void {
  if (event.type === 'text-delta') process.stdout.write(String(event.delta))
  if (event.type === 'model:reset') process.stdout.write('\n(asked again) ')
  if (event.type === 'tool:end') console.log(`booked   ${event.content}`)
}
