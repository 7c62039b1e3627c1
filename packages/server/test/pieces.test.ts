import { Agent, type ModelChunk } from '@allium/core'
import { type EventLog, memoryEventLog } from '@allium/store'
import { expect, test } from 'vitest'
import { allOf, ask, asStream, listen, textIn } from './kit.ts'

test('chunks of one turn of the event loop are merged, and are read in their order', async () => {
  const log = memoryEventLog()
  let appends = 0
  const events: EventLog = {
    ...log,
    append: (run, epoch, entries, options) => {
      appends++
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
  expect(all.filter(({ event }) => event === 'text-delta').length).toBeLessThan(10)
  expect(appends).toBeLessThan(10)
})
