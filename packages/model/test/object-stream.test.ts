import { Agent } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { objectStream } from '../src/index.ts'

const trip = z.object({ to: z.string(), days: z.number(), stops: z.array(z.object({ name: z.string() })) })
const oslo = { to: 'Oslo', days: 3, stops: [{ name: 'Opera' }, { name: 'Fjord' }] }
const inPieces = (text: string, size = 3) => text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? []

async function parts(steps: readonly ScriptedStep[], strategy: 'native' | 'tool' = 'native') {
  const look = { name: 'look', description: 'Looks', jsonSchema: {}, execute: () => 'sunny' }
  const run = new Agent({ model: scriptedModel(steps), tools: [look] }).run('Plan', {
    output: { schema: trip, strategy },
  })
  const seen: unknown[] = []
  for await (const part of objectStream(run)) seen.push(part)
  return { seen, output: (await run).output }
}

describe('objectStream', () => {
  it('gives all of the answer so far, each time more of it has come', async () => {
    const { seen, output } = await parts([{ chunks: inPieces(JSON.stringify(oslo), 8) }])
    expect(seen[0]).toEqual({ to: 'O' })
    expect(seen.at(-1)).toEqual(oslo)
    expect(output).toEqual(oslo)
    const lengths = seen.map((part) => JSON.stringify(part).length)
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b))
    expect(seen).toContainEqual({ to: 'Oslo', days: 3, stops: [{ name: 'Opera' }] })
  })

  it('gives only what is sure: a number when it has ended, a key with its value', async () => {
    const { seen } = await parts([{ chunks: ['{"to":"Oslo","da', 'ys":1', '2,"stops":[]}'] }])
    expect(seen).toEqual([{ to: 'Oslo' }, { to: 'Oslo', days: 12, stops: [] }])
  })

  it('passes over steps that call tools, and works where the model answers through one', async () => {
    const steps = [
      { text: 'I [look] first.', toolCalls: [{ name: 'look' }] },
      { toolCalls: [{ name: 'answer', args: oslo }] },
    ]
    const { seen, output } = await parts(steps, 'tool')
    expect([seen.at(-1), output]).toEqual([oslo, oslo])
  })

  it('begins again with a new attempt', async () => {
    const run = new Agent({
      model: scriptedModel([{ chunks: ['{"to":"Ber'], error: new Error('cut') }, JSON.stringify(oslo)]),
    })
      .use('model', (_, next) => next().catch(() => next()))
      .run('Plan', { output: trip })
    const seen: { to?: string | undefined }[] = []
    for await (const part of objectStream(run)) seen.push(part)
    expect([seen[0]?.to, seen.at(-1)?.to]).toEqual(['Ber', 'Oslo'])
  })

  it('takes text and a code fence around the JSON, and gives nothing for text alone', async () => {
    expect((await parts([{ chunks: ['```json\n{"to":"Oslo","days":3,"stops":[]}\n```'] }])).seen.at(-1)).toMatchObject({
      days: 3,
    })
    const run = new Agent({ model: scriptedModel(['no JSON here']) }).run('Plan')
    const seen: unknown[] = []
    for await (const part of objectStream(run)) seen.push(part)
    expect(seen).toEqual([])
  })

  it('is of no harm to a reader: 200 KB of brackets are read in no time worth telling', async () => {
    const run = new Agent({ model: scriptedModel([{ chunks: ['['.repeat(200_000)] }]) }).run('Plan')
    for await (const _ of objectStream(run));
    expect((await run).text).toHaveLength(200_000)
  })
})
