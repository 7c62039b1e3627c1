import { memoryEventLog, memoryStore } from '@allium/store'
import type { Agent } from 'allium'
import * as memory from 'allium/memory'
import { expect, test } from 'vitest'
import { server } from '../src/index.ts'
import { TraceLog } from '../src/inspect/trace-log.ts'
import { type InspectorOptions, type InspectRecord, inspector } from '../src/inspect.ts'
import { agentOf, principal, silent } from './kit.ts'

function serve(
  options: Partial<InspectorOptions> = {},
  agent: Agent = agentOf(['The secret of Ann.', 'Hello.', 'Hello.']),
) {
  const [store, events] = [memoryStore(), memoryEventLog()]
  agent.use(memory.persist({ store }))
  const inspect = inspector({ access: () => 'all', ...options })
  const app = server(agent, { principal, logger: silent, sessions: store, events, inspect })
  const ask = (path: string, body?: object, who = 'acme/ann', method = body === undefined ? 'GET' : 'POST') =>
    app.fetch(
      new Request(`http://x${path}`, {
        method,
        headers: { authorization: who, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    )
  const run = (who?: string) => ask('/sessions/s/runs', { input: 'Hi' }, who)
  return { app, store, events, agent, ask, run }
}

/** Reads the feed until the server has drained. */
async function feedOf({ app, ask }: ReturnType<typeof serve>): Promise<InspectRecord[]> {
  const response = await ask('/inspect/feed')
  await app.drain()
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '))
  return lines.flatMap((line) => JSON.parse(line.slice(6)) as InspectRecord[])
}

const textsOf = (records: InspectRecord[]) =>
  records.flatMap((record) => (record.type === 'response' ? record.text : []))

test('the feed of the inspector forgets a session that its owner deletes', async () => {
  const served = serve()
  await served.run()
  await served.run('acme/bob')
  expect((await served.ask('/sessions/s', undefined, 'acme/ann', 'DELETE')).status).toBe(204)
  const records = await feedOf(served)
  expect(textsOf(records)).toEqual(['Hello.'])
  expect(JSON.stringify(records)).not.toContain('ann')
})

test.each([
  ['an owner', { tenant: 'acme', owner: 'ann' }],
  ['a tenant', { tenant: 'acme' }],
])('the feed of the inspector forgets %s that the application erases in its store', async (_, scope) => {
  const served = serve()
  await served.run()
  await served.run('other/eve')
  await served.store.erase(scope)
  expect(textsOf(await feedOf(served))).toEqual(['Hello.'])
})

test('a session that was erased and began again shows its new turns only', async () => {
  const served = serve()
  await served.run()
  await served.store.erase({ tenant: 'acme', owner: 'ann' })
  await served.run()
  expect(textsOf(await feedOf(served))).toEqual(['Hello.'])
})

test('the feed shows a run that the application starts without the server, also before it is stored', async () => {
  const served = serve()
  await served.agent.session({ id: 's', principal: { tenantId: 'acme', userId: 'ann' } }).run('Hi')
  expect(textsOf(await feedOf(served))).toEqual(['The secret of Ann.'])
})

test('the records in memory have at most the given number of characters', async () => {
  const log = new TraceLog({ maxRecords: 1000, maxSize: 10_000 })
  const run = log.run({ tenant: '', owner: 'ann', agent: 'agent', sessionId: 's' }, 't')
  for (let id = 0; id < 100; id++) log.add(run, { type: 'cost', turnId: 'x'.repeat(1000), id, usd: 0 })
  const records = log.after(0, 1000)
  expect(records.map(({ json }) => (json as string).length).reduce((sum, length) => sum + length)).toBeLessThan(11_000)
  expect(JSON.parse(records.at(-1)?.json as string)).toMatchObject({ id: 99 })
})
