import { Agent, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { type Entry, StepLog } from '../src/step-log.ts'
import { runTurn } from '../src/turn.ts'

const task = { sessionId: 'chat', input: 'Go.', idempotencyKey: 'k' }
const passes = (name: string): Middleware & { name: string } => ({ name, tool: (_, next) => next() })

interface Build {
  layers?: Middleware[]
  jsonSchema?: object
  name?: string
}

/** Runs a build whose attempt is lost in its second model call, or goes on from the entries of an earlier attempt. */
async function attempt(
  entries: readonly Entry[],
  { layers = [passes('a')], jsonSchema = {}, name = 'pay' }: Build = {},
) {
  const paid: string[] = []
  const tool = { name, description: 'Pays', jsonSchema, execute: () => paid.push('paid') }
  const call = { toolCalls: [{ name, callId: 'c1', args: {} }] }
  const steps = entries.length === 0 ? [call, { stall: true } as const] : ['Paid.']
  const agent = new Agent({ model: scriptedModel(steps), tools: [tool as never] }).use(layers)
  const options = { agent, task, principal: undefined, snapshot: null }
  const run = (journal: StepLog, signal: AbortSignal) =>
    runTurn(options, journal, signal).then(({ outcome }) => outcome)
  const log = new StepLog(run as never, new AbortController().signal)
  for (const entry of entries) log.acknowledge(entry)
  const written = [...entries]
  while (paid.length === 0 || entries.length > 0) {
    const entry = await log.next()
    if (entry.end !== undefined) return { written, paid, end: entry.end }
    log.acknowledge(entry)
    written.push(entry)
  }
  return { written, paid, end: undefined }
}

const idsOf = (entries: readonly Entry[]) => entries.flatMap(({ steps }) => steps.map(([id]) => id))

it('the structure of the code is the first step of a run', async () => {
  const { written } = await attempt([])
  expect(idsOf(written)).toEqual(['chat:k:code', 'chat:k:start', 'chat:k:model:0:1', 'chat:k:tool:c1:1'])
})

it('another process with the same code continues the run', async () => {
  const { written } = await attempt([])
  const { paid, end } = await attempt(written)
  expect([paid, end]).toEqual([[], expect.stringContaining('Paid.')])
})

it.each<[string, Build, string]>([
  ['a layer was added', { layers: [passes('a'), passes('b')] }, 'the layer "b" was added'],
  ['a layer was removed', { layers: [] }, 'the layer "a" was removed'],
  ['a schema has changed', { jsonSchema: { type: 'object', required: ['to'] } }, 'the tool "pay" has changed'],
  ['a tool was renamed', { name: 'send' }, 'the tool "pay" was removed'],
])('stops a run with the difference where %s, before any step', async (_, build, difference) => {
  const { written } = await attempt([])
  const ending = attempt(written, build)
  await expect(ending).rejects.toMatchObject({ code: 'journal.diverged' })
  await expect(ending).rejects.toThrow(difference)
})

it('stops a run whose layers have another order', async () => {
  const { written } = await attempt([], { layers: [passes('a'), passes('b')] })
  const ending = attempt(written, { layers: [passes('b'), passes('a')] })
  await expect(ending).rejects.toThrow('the order of the layers changed from a, b to b, a')
})

it('continues a run whose journal has no structure, and records it', async () => {
  const { written } = await attempt([])
  const former = written.map(({ steps }) => ({ steps: steps.filter(([id]) => !id.endsWith(':code')) }))
  const { end, written: now } = await attempt(former, { layers: [passes('a'), passes('b')] })
  expect([end, idsOf(now).includes('chat:k:code')]).toEqual([expect.stringContaining('Paid.'), true])
})
