import { expect, it, vi } from 'vitest'
import { LogWriter } from '../../src/event-log/log-writer.ts'
import { type EventLog, memoryEventLog } from '../../src/index.ts'

const run = { key: { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }, turnId: 't' }
const entry = (delta: string) => ({ event: { type: 'text-delta' as const, delta } })

async function written(log: EventLog): Promise<string[]> {
  const texts: string[] = []
  for await (const { event } of log.read(run, 0)) texts.push((event as ReturnType<typeof entry>).event.delta)
  return texts
}

it('writes events that came together as one, and the rest with the end', async () => {
  const log = memoryEventLog()
  let appends = 0
  const append: EventLog['append'] = (...of) => {
    appends++
    return log.append(...of)
  }
  const writer = new LogWriter({ ...log, append }, run, 1)
  await writer.open()
  for (const delta of ['a', 'b', 'c']) writer.push(entry(delta))
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  writer.push(entry('d'))
  await writer.end(() => {})
  expect([await written(log), appends]).toEqual([['a', 'b', 'c', 'd'], 3])
})

it('writes nothing behind what it could not write, and its end tells why', async () => {
  const log = memoryEventLog()
  let isAway = false
  const append: EventLog['append'] = (...of) => (isAway ? Promise.reject(new Error('away')) : log.append(...of))
  const writer = new LogWriter({ ...log, append }, run, 1)
  await writer.open()
  isAway = true
  writer.push(entry('lost'))
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  isAway = false
  writer.push(entry('behind'))
  await expect(writer.end(() => {})).rejects.toThrow('away')
  expect(await log.latest(run.key)).toEqual({ turnId: 't', seq: 0, ended: false })
})

it('writes the events of several runs at the same time', async () => {
  const log = memoryEventLog()
  const ticks: number[] = []
  let tick = 0
  const append: EventLog['append'] = (...of) => {
    if (of[2].length > 0) ticks.push(tick)
    if (ticks.length === 1) void Promise.resolve().then(() => setImmediate(() => tick++))
    return log.append(...of)
  }
  const writers = ['a', 'b', 'c'].map(
    (turnId) => new LogWriter({ ...log, append }, { ...run, turnId }, 1, { slot: 20 }),
  )
  for (const writer of writers) await writer.open()
  const now = vi.spyOn(performance, 'now').mockReturnValue(1)
  for (const writer of writers) writer.push(entry('hi'))
  now.mockRestore()
  await expect.poll(() => ticks).toEqual([0, 0, 0])
})
