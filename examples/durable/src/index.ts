/** One run, begun by whoever starts first, and gone on with by whoever comes after it. */
import type { Entry } from '@allium/durable'
import { open, principal } from './journey-agent.ts'

const { store, runs } = open()
// The key is what makes it one run, however often the program is started.
const task = { principal, sessionId: 'journey', input: 'Book the train and the room.', idempotencyKey: 'journey-1' }
const { run } = await runs.start(task)
console.log(`run      ${(await runs.get(run, { principal })).status}`)

for await (const { event } of runs.attach(run, { principal })) show((event as Entry).event)

const { status, text } = await runs.get(run, { principal })
console.log(`\nstatus   ${status}`)
console.log(`answer   ${text}`)
await runs.drain()
store.close()

function show(event: Entry['event']): void {
  if (event.type === 'text-delta') process.stdout.write(String(event.delta))
  if (event.type === 'model:reset') process.stdout.write('\n(asked again) ')
  if (event.type === 'tool:end') console.log(`booked   ${event.content}`)
}
