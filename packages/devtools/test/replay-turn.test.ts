import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sqlite } from '@allium/store-sqlite'
import { Agent, defineMiddleware, defineTool, memoryStore } from 'allium'
import * as guard from 'allium/guard'
import * as memory from 'allium/memory'
import { scriptedModel } from 'allium/testing'
import { expect, onTestFinished, test } from 'vitest'
import { recordTurns } from '../src/child/record-turns.ts'
import { replayTurn } from '../src/child/replay/replay-turn.ts'
import { replayRequest } from '../src/host/replay/replay-request.ts'
import { projectFolder } from './eval-report.ts'

const parent = fileURLToPath(new URL('../.cache/', import.meta.url))

/** A module with an agent whose layer denies refunds above a limit. The tool would leave a file behind. */
const source = (limit: number) => `
import { writeFileSync } from 'node:fs'
import { Agent, defineMiddleware, defineTool } from 'allium'
import { scriptedModel } from 'allium/testing'
const refund = defineTool({
  name: 'refund',
  description: 'Refunds an order.',
  jsonSchema: { type: 'object', properties: { cents: { type: 'number' } } },
  execute: () => writeFileSync(new URL('refunded', import.meta.url), ''),
})
const cap = defineMiddleware({ name: 'cap', tool: (ctx, next) => (ctx.args.cents > ${limit} ? ctx.deny('too much') : next()) })
export default new Agent({ name: 'support', model: scriptedModel([]), tools: [refund] }).use(cap)
const high = defineMiddleware({ name: 'cap', tool: (ctx, next) => (ctx.args.cents > 1000 ? ctx.deny('too much') : next()) })
export const generous = () => new Agent({ name: 'support', model: scriptedModel([]), tools: [refund] }).use(high)
`

/** Runs a turn in which a refund is denied, recorded as the inspector does. Returns a function that replays it with a module. */
async function recordedTurn() {
  const { cwd, write } = projectFolder(parent)
  const database = join(cwd, 'dev.db')
  const store = sqlite(database)
  onTestFinished(() => store.close())
  const steps = [{ toolCalls: [{ name: 'refund', args: { cents: 500 } }] }, 'I cannot do that.']
  const jsonSchema = { type: 'object', properties: { cents: { type: 'number' } } }
  const refund = defineTool({ name: 'refund', description: 'Refunds an order.', jsonSchema, execute: () => 'done' })
  const cap = defineMiddleware({ name: 'cap', tool: (ctx) => ctx.deny('too much') })
  const agent = new Agent({ name: 'support', model: scriptedModel(steps), tools: [refund] })
  agent.use(memory.persist({ store: store.sessions })).use(cap)
  recordTurns(agent as never, store.recordings)
  const session = agent.session({ id: 'chat', principal: { userId: 'jane' } })
  const { turnId } = await session.run('Refund it')
  // The recording is stored after the run.
  await session.close()
  const turn = { tenant: '', owner: 'jane', sessionId: 'chat', turnId }
  const replayed = (name: string, limit: number, change: object, of = turn) => {
    write(`${name}.ts`, source(limit))
    const options = { file: join(cwd, `${name}.ts`), exportName: 'default', cwd, database, key: '' }
    return replayTurn(options, replayRequest({ ...of, change }))
  }
  return { replayed, turn, cwd }
}

test('a turn that nothing changed is the same, and a changed file or a layer that is off makes it differ', async () => {
  const { replayed, cwd } = await recordedTurn()
  expect(await replayed('same', 100, { kind: 'none' })).toMatchObject({ verdict: 'same', differences: [] })
  const off = await replayed('off', 100, { kind: 'without', layer: 'cap' })
  expect(off.verdict).toBe('different')
  expect(off.lanes.map(({ step }) => step)).toEqual(['model 0', 'tool call-1', 'model 1', 'end'])
  expect(off.lanes[off.divergedAt ?? -1]).toMatchObject({ differs: true })
  expect((await replayed('edited', 1000, { kind: 'none' })).verdict).toBe('different')
  expect(existsSync(join(cwd, 'refunded'))).toBe(false)
})

test('says that a turn was not recorded, or that the agent has no such layer', async () => {
  const { replayed, turn } = await recordedTurn()
  const other = { ...turn, turnId: 'other' }
  await expect(replayed('other', 1, { kind: 'none' }, other)).rejects.toThrow('This turn was not recorded.')
  await expect(replayed('layer', 1, { kind: 'without', layer: 'x' })).rejects.toThrow(/"x"/)
})

test('layers and sessions are held no longer after a replay whose agent could not be loaded', async () => {
  const { use } = Agent.prototype
  const { replayed } = await recordedTurn()
  await expect(replayed('none', 100, { kind: 'export', name: 'strict' })).rejects.toThrow('strict')
  expect(Agent.prototype.use).toBe(use)
  expect(memoryStore()).toHaveProperty('passages')
})

test('another agent of the module is tried by the name of its export', async () => {
  const { replayed, turn } = await recordedTurn()
  const generous = await replayed('other', 100, { kind: 'export', name: 'generous' })
  expect(generous).toMatchObject({ verdict: 'different', differences: [{ kind: 'diverged' }, { layer: 'cap' }] })
  expect((await replayed('same', 100, { kind: 'export', name: 'default' })).verdict).toBe('same')
  await expect(replayed('none', 100, { kind: 'export', name: 'strict' })).rejects.toThrow(/export "strict".*generous/)
  expect(() => replayRequest({ ...turn, change: { kind: 'export' } })).toThrow('"name" must be a text')
})

test('an agent with a layer that redacts is not recorded', () => {
  const store = sqlite(':memory:')
  onTestFinished(() => store.close())
  const agent = new Agent({ model: scriptedModel([]) }).use(guard.pii())
  recordTurns(agent as never, store.recordings)
  expect(agent.inspect().layers.map(({ name }) => name)).not.toContain('inspector:record')
})

test.each<[object, RegExp]>([
  [{}, /"tenant"/],
  [{ tenant: '', owner: 'a', sessionId: 'b', turnId: 7 }, /"turnId"/],
  [{ tenant: '', owner: 'a', sessionId: 'b', turnId: 'c', change: { kind: 'x' } }, /kind/],
  [
    { tenant: '', owner: 'a', sessionId: 'b', turnId: 'c', change: { kind: 'move', layer: 'a', to: 'on', of: 'b' } },
    /kind/,
  ],
  [{ tenant: '', owner: 'a', sessionId: 'b', turnId: 'c'.repeat(2000), change: { kind: 'none' } }, /"turnId"/],
])('rejects a request that is not valid: %#', (given, message) => {
  expect(() => replayRequest(given)).toThrow(message)
})
