import { expect, it } from 'vitest'
import { LiveEvents } from '../../src/event-log/live-events.ts'
import { LogWriter } from '../../src/event-log/log-writer.ts'
import { RunOutput } from '../../src/event-log/run-output.ts'
import { memoryEventLog } from '../../src/index.ts'

const run = { key: { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }, turnId: 't' }

/** The lengths of the events of a run whose chunks come in one tick of the event loop. */
async function lengthsOf(chunks: readonly string[]): Promise<number[]> {
  const log = memoryEventLog()
  const writer = new LogWriter(log, run, 1)
  await writer.open()
  const output = new RunOutput(new LiveEvents((after) => log.read(run, after)), writer)
  for (const delta of chunks) output.push({ event: { type: 'text-delta', delta } })
  output.flush()
  await writer.end(() => {})
  const lengths: number[] = []
  for await (const { event } of log.read(run, 0))
    lengths.push((event as { event: { delta: string } }).event.delta.length)
  return lengths
}

it('merges text of one tick', async () => {
  expect(await lengthsOf(['a', 'b', 'c'])).toEqual([3])
})

it('merges no more than 16,384 characters, so that a reader that stops reading keeps little', async () => {
  const chunk = 'x'.repeat(5_000)
  expect(await lengthsOf([chunk, chunk, chunk, chunk, chunk])).toEqual([15_000, 10_000])
  expect(await lengthsOf(['x'.repeat(20_000), 'x'.repeat(20_000), 'a', 'b'])).toEqual([20_000, 20_000, 2])
})
