import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@allium/store-sqlite'
import { manualClock } from '@allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { eventsOf, imageProcess, namesOf, startImages, untilLost } from './image-run.ts'

const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
const all = ['generated', 'input', 'tool']
const settled = () => new Promise((resolve) => setTimeout(resolve))

function opened() {
  const folder = mkdtempSync(join(tmpdir(), 'allium-images-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const clock = manualClock()
  const store = sqlite(join(folder, 'store.db'), { clock, synchronous: 'normal' })
  onTestFinished(() => store.close())
  const files = () => readdirSync(folder).map((name) => readFileSync(join(folder, name)))
  const canaries = () => files().filter((bytes) => bytes.includes('canary')).length
  return { store, clock, canaries, size: () => files().reduce((sum, { length }) => sum + length, 0) }
}

it('goes on with the images of the input, of a tool and of the model where its process was lost, and erases them all', async () => {
  const { store, clock, canaries, size } = opened()
  const lost = imageProcess(store, untilLost, { clock: manualClock() })
  const { run } = await startImages(lost.runs)
  const lease = { key, token: 0, version: 0 }
  while (!(await store.runs.steps(lease, run)).some(({ id }) => id.includes('tool:c1'))) await settled()
  await clock.advance(1500)
  const next = imageProcess(store, ['Three images.'], { clock })
  await next.runs.recover()
  const events = await eventsOf(next.runs, run)
  expect([lost.called, next.called]).toEqual([['look', 'note'], []])
  expect(namesOf(next.model.requests[0]?.messages)).toEqual(all)
  expect(namesOf(events)).toEqual(['generated'])
  expect(namesOf((await store.sessions.load(key))?.history)).toEqual(all)
  await next.runs.drain()
  // Each image once, and as much again in the log beside the file.
  expect(size()).toBeLessThan(49_000_000)
  expect(canaries()).toBeGreaterThan(0)
  await store.sessions.erase({ tenant: 'acme', owner: 'ann' })
  expect(canaries()).toBe(0)
}, 60_000)

it('knows a request with an image again by its idempotency key, and refuses another image under it', async () => {
  const { store, clock } = opened()
  const { runs } = imageProcess(store, ['One image.'], { clock })
  const start = (byte: number) => {
    const image = { type: 'image' as const, data: new Uint8Array(5000).fill(byte), mediaType: 'image/png' }
    return runs.start({ sessionId: 'chat', idempotencyKey: 'k', input: { role: 'user', content: [image] } })
  }
  const { run } = await start(1)
  expect((await start(1)).run).toBe(run)
  await expect(start(2)).rejects.toMatchObject({ code: 'run.key_reused' })
  for await (const _ of runs.attach(run, {}));
  await runs.drain()
})
