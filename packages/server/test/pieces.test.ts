import { Agent, type ModelChunk } from '@allium/core'
import { type EventLog, memoryEventLog } from '@allium/store'
import { expect, test } from 'vitest'
import { allOf, ask, asStream, listen, textIn } from './kit.ts'

test('what comes in one turn of the event loop is appended as one, and is read as it came', async () => {
  const log = memoryEventLog()
  const sizes: number[] = []
  const events: EventLog = {
    ...log,
    append: (run, epoch, entries, options) => {
      sizes.push(entries.length)
      return log.append(run, epoch, entries, options)
    },
  }
  const model = {
    id: 'at-once',
    async *stream(): AsyncGenerator<ModelChunk> {
      for (let at = 0; at < 30; at++) yield { type: 'text-delta', delta: `${at} ` }
      yield { type: 'finish', reason: 'stop', usage: { inputTokens: 1, outputTokens: 1 } }
    },
  }
  const { url } = await listen(new Agent({ model }), { events })
  const all = await allOf(await ask(`${url}/sessions/a/runs`, { body: { input: 'Hi' }, headers: asStream }))
  expect(textIn(all).trim().split(' ')).toEqual(Array.from({ length: 30 }, (_, at) => `${at}`))
  expect(all.map(({ id }) => Number(id?.split('.')[0]))).toEqual(all.map((_, at) => at + 1))
  expect(Math.max(...sizes)).toBeGreaterThan(10)
  expect(sizes.length).toBeLessThan(10)
})
