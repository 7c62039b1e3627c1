import { expect, it } from 'vitest'
import { type Cassette, recordModel, replayModel, scriptedModel } from '../../src/index.ts'
import { ask, call, request } from '../model-calls.ts'

async function recording(...texts: string[]): Promise<Cassette> {
  const recorder = recordModel(scriptedModel(texts.map((text) => `re: ${text}`)))
  for (const text of texts) await call(recorder, ask(text))
  return recorder.cassette
}

it('a call that was not recorded fails with the nearest one as a line diff', async () => {
  const replayed = replayModel(await recording('Where is my refund?\nIt is late.', 'Hi'))
  const { error } = await call(replayed, ask('Where is my refund?\nIt is very late.'))
  expect(error).toMatchObject({ code: 'test.cassette' })
  expect(
    String(error),
  ).toBe(`AlliumError: The recording of "scripted/model" has no such request. The nearest is call 1 (- recorded, + asked):

  user: Where is my refund?
-   It is late.
+   It is very late.
  toolChoice "auto"
  responseFormat {"type":"text"}

Recorded (✓ used):
  · 1. user: Where is my refund?   It is late.
  · 2. user: Hi

Record it again if the change is intended. If it differs from run to run (a date, an id), add it to \`scrub\`, here and where it is recorded.`)
})

it('a call that comes more often than it was recorded is told apart from an unknown one', async () => {
  const replayed = replayModel(await recording('Hi'))
  await call(replayed, ask('Hi'))
  const { error } = await call(replayed, ask('Hi'))
  expect(String(error)).toContain('has this request once, and the agent sent it once more.\n\n  user: Hi')
})

it('the message shows no secret of the call that was asked', async () => {
  const replayed = replayModel(await recording('Hi'))
  const asked = request({
    settings: { headers: { authorization: 'hunter2' } },
    messages: ask('sk-ant-api03-0123456789abcdef').messages,
  })
  const { error } = await call(replayed, asked)
  expect(String(error)).not.toMatch(/hunter2|0123456789/)
})

it('texts that have nothing in common are still told, in bounded time and space', async () => {
  const lines = (word: string) => Array.from({ length: 5000 }, (_, i) => `${word} ${i}`).join('\n')
  const { error } = await call(replayModel(await recording(lines('old'))), ask(lines('new')))
  expect(String(error)).toContain('more lines')
  expect(String(error).length).toBeLessThan(10_000)
})

it('done() throws where calls are left, and where one came that was not recorded, even if a layer swallowed it', async () => {
  const cassette = await recording('a', 'b')
  const replayed = replayModel(cassette)
  await call(replayed, ask('a'))
  expect(() => replayed.done()).toThrow(/1 of its 2 recorded calls[\s\S]*✓ 1\. user: a\n {2}· 2\. user: b/)
  await call(replayed, ask('b'))
  replayed.done()
  await call(replayed, ask('c'))
  expect(() => replayed.done()).toThrow('has no such request')
})

it.each([[{}], [{ version: 2 }], [{ version: 1, model: 'm', entries: [{ chunks: [] }] }], [undefined]])(
  'refuses %j, which is not a cassette',
  (value) => {
    expect(() => replayModel(value as never)).toThrow(/is not a cassette: it has .* Record it again/)
  },
)
