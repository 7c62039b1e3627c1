import { durable } from '@allium/durable'
import { durableMetrics } from '@allium/durable/metrics'
import { operations } from '@allium/durable/operations'
import { sqlite } from '@allium/store-sqlite'
import { Agent } from 'allium'
import { type ScriptedStep, scriptedModel } from 'allium/testing'
import { expect, it, onTestFinished } from 'vitest'
import { server } from '../src/index.ts'
import { type OperatorRights, operator } from '../src/operations.ts'

interface Caller {
  userId?: string
  tenantId: string
  rights?: OperatorRights | 'broken'
}

const ann: Caller = { userId: 'ann', tenantId: 'acme' }
const viewer: Caller = { userId: 'vera', tenantId: 'ops', rights: { tenants: ['acme'] } }
const manager: Caller = { userId: 'max', tenantId: 'ops', rights: { tenants: 'all', manage: true } }
const denier: Caller = { userId: 'dora', tenantId: 'ops', rights: { tenants: ['acme'], deny: true } }
const reader: Caller = { userId: 'rita', tenantId: 'ops', rights: { tenants: ['acme'], content: true } }

/** A server with durable runs. The header `who` has the caller. */
function serve(steps: readonly ScriptedStep[] = ['My secret answer.', 'Two.'], tools: readonly object[] = []) {
  const store = sqlite(':memory:')
  const agent = new Agent({ version: '1', name: 'support', model: scriptedModel(steps), store, tools: tools as never })
  const runs = durable(agent, { store })
  const app = server(agent, {
    principal: ({ headers }) => JSON.parse(headers.get('who') ?? 'null') as Caller | null,
    durable: runs,
    secret: 'a secret of the cursors',
    operations: operator({
      operations: operations({
        store,
        agents: [new Agent({ version: '2', name: 'support', model: scriptedModel([]), store })],
      }),
      canOperate: (principal) => {
        const { rights } = principal as Caller
        if (rights === 'broken') throw new Error('The directory is down.')
        return rights
      },
    }),
  })
  onTestFinished(() => app.drain({ timeout: 1 }))
  const ask = async (who: Caller | null, method: string, path: string, body?: object) => {
    const headers = { 'content-type': 'application/json', ...(who !== null && { who: JSON.stringify(who) }) }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await app.fetch(new Request(`http://x${path}`, init))
    const text = await response.text()
    return { status: response.status, text, json: text.startsWith('{') ? JSON.parse(text) : undefined, response }
  }
  const get = (who: Caller | null, path: string) => ask(who, 'GET', path)
  const post = (who: Caller | null, path: string, body: object = {}) => ask(who, 'POST', path, body)
  const start = async (who = ann, runAt?: number) => {
    const { run } = await runs.start({ principal: who, sessionId: 's', input: 'my secret plan', runAt })
    return run
  }
  const ended = async (who = ann) => {
    const run = await start(who)
    for await (const _ of runs.attach(run, { principal: who })) void _
    return run
  }
  return { store, app, get, post, start, ended }
}

it('lists, shows and summarizes the runs of the tenants that the operator may see, without content', async () => {
  const { get, ended } = serve()
  const mine = await ended(ann)
  const theirs = await ended({ userId: 'gus', tenantId: 'globex' })
  const ids = async (who: Caller, query = '') =>
    (await get(who, `/operations/runs${query}`)).json.runs.map(({ run }: { run: string }) => run)
  expect(await ids(viewer)).toEqual([mine])
  expect(await ids(viewer, '?tenant=globex')).toEqual([])
  expect(await ids(manager)).toEqual([theirs, mine])
  expect(await ids(manager, '?status=completed&agent=support&tenant=globex')).toEqual([theirs])
  const shown = await get(viewer, `/operations/runs/${mine}`)
  expect(shown.json.timeline.at(-1)).toMatchObject({ type: 'ended', status: 'completed' })
  expect(shown.text).not.toContain('secret')
  expect((await get(viewer, `/operations/runs/${theirs}`)).status).toBe(404)
  expect((await get(viewer, '/operations/summary')).json.groups).toMatchObject([{ status: 'completed', count: 1 }])
})

it('pages with a cursor that only its operator and filter can use', async () => {
  const { get, ended } = serve()
  await ended()
  const older = (await get(manager, '/operations/runs?limit=1')).json
  expect(older.cursor).toBeUndefined()
  await ended()
  const { cursor } = (await get(manager, '/operations/runs?limit=1')).json
  const at = (path: string) => `${path}limit=1&cursor=${encodeURIComponent(cursor)}`
  expect((await get(manager, at('/operations/runs?'))).json.runs).toHaveLength(1)
  for (const [who, path] of [
    [viewer, '/operations/runs?'],
    [manager, '/operations/runs?status=completed&'],
    [manager, '/operations/runs?olderThan=1&'],
    [manager, '/operations/schedules?'],
  ] as const)
    expect((await get(who, at(path))).status).toBe(400)
})

it('stops a run of another owner, and records the operator in the audit of its tenant', async () => {
  const { post, get, start, store } = serve([{ stall: true }])
  const run = await start()
  const stopped = await post(manager, `/operations/runs/${run}/stop`, { reason: 'ticket 7' })
  expect([stopped.status, stopped.json]).toEqual([202, { stopping: true }])
  const status = async () => (await get(manager, `/operations/runs/${run}`)).json.run.status
  await expect.poll(status, { timeout: 15_000 }).toBe('aborted')
  const record = JSON.parse((await store.audit.chainOf('acme').last()) ?? '')
  expect(record).toMatchObject({ type: 'operator:stop', operator: 'max', reason: 'ticket 7', turn: run })
  expect((await post(manager, `/operations/runs/${run}/retry`)).json).toMatchObject({
    queued: false,
    refusal: 'not_failed',
  })
})

it('does not take the cursor of one filter for another one with the same value', async () => {
  const { get, ended } = serve()
  await ended()
  await ended()
  const { cursor } = (await get(manager, '/operations/runs?limit=1&agent=support')).json
  const at = (query: string) => get(manager, `/operations/runs?${query}&limit=1&cursor=${encodeURIComponent(cursor)}`)
  expect((await at('agent=support')).json.runs).toHaveLength(1)
  for (const other of ['version=support', 'queue=support', 'code=support', 'session=support'])
    expect((await at(other)).status).toBe(400)
})

it('changes the runs that match a filter, and ends one at once', async () => {
  const { post, get, start, store } = serve()
  const run = await start(ann, Date.now() + 3_600_000)
  await start({ userId: 'gus', tenantId: 'globex' }, Date.now() + 3_600_000)
  const where = { status: 'queued', tenant: 'acme' }
  const counted = await post(manager, '/operations/runs/bulk', { action: 'forceStop', where, dryRun: true })
  expect(counted.json).toEqual({ matched: 1, more: false, changed: 0, refused: [] })
  const stopped = await post(manager, '/operations/runs/bulk', { action: 'forceStop', where, reason: 'ticket 7' })
  expect(stopped.json).toMatchObject({ matched: 1, changed: 1 })
  const record = JSON.parse((await store.audit.chainOf('acme').last()) ?? '')
  expect(record).toMatchObject({ type: 'operator:force_stop', operator: 'max', reason: 'ticket 7', turn: run })
  expect((await post(manager, `/operations/runs/${run}/force-stop`)).json).toEqual({ ended: false })
  expect((await get(manager, '/operations/queues')).json).toMatchObject({ queues: [{ queue: 'default', queued: 1 }] })
  const again = await post(manager, `/operations/runs/${run.slice(0, 8)}/start-again`, { reason: 'ticket 7' })
  expect([again.status, again.json.isNew]).toEqual([202, true])
})

it('lets an operator deny a call by a right of its own, and approve none', async () => {
  const call = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }
  const pay = { name: 'pay', description: 'Pays', jsonSchema: {}, requireApproval: true, execute: () => 'paid' }
  const { post, ended, store } = serve([call, 'Nothing was paid.'], [pay])
  const run = await ended()
  const path = `/operations/runs/${run}/deny`
  expect((await post(manager, path, { reason: 'x' })).status).toBe(404)
  expect((await post(denier, path)).status).toBe(400)
  expect((await post(denier, path, { reason: 'x', approve: true })).status).toBe(400)
  expect((await post(denier, `/operations/runs/${run}/stop`)).status).toBe(404)
  const denied = await post(denier, path, { reason: 'ticket 7' })
  expect([denied.status, denied.json.callId]).toEqual([202, 'c1'])
  const record = JSON.parse((await store.audit.chainOf('acme').last()) ?? '')
  expect(record).toMatchObject({ type: 'operator:deny', operator: 'dora', reason: 'ticket 7', call: 'c1' })
})

it('lists, pauses, resumes and runs schedules', async () => {
  const { post, get, store } = serve()
  const schedule = { tenant: 'acme', owner: 'ann', id: 'a/b', agent: 'support', cron: '0 8 * * *', tz: 'UTC' }
  const request = { input: 'my secret plan' }
  await store.schedules.put(
    { ...schedule, missed: 'latest', request, nextAt: 9e12 },
    { agents: ['support'], perOwner: 9 },
  )
  const listed = await get(viewer, '/operations/schedules?paused=false')
  expect([listed.json.schedules, listed.text.includes('secret')]).toMatchObject([[{ id: 'a/b', paused: false }], false])
  const path = '/operations/schedules/a%2Fb'
  expect((await post(viewer, `${path}/pause`)).status).toBe(404)
  expect((await post(manager, `${path}/pause`, { reason: 'ticket 7' })).json).toMatchObject({ paused: true })
  expect((await post(manager, `${path}/run`)).status).toBe(400)
  expect((await post(manager, `${path}/resume`)).json).toMatchObject({ paused: false })
  expect((await post(manager, `${path}/run?owner=ann`)).json.nextAt).toBeLessThan(9e12)
  expect((await post(manager, `${path}/run?owner=bob`)).status).toBe(404)
  const record = JSON.parse((await store.audit.chainOf('acme').last()) ?? '')
  expect(record).toMatchObject({ type: 'operator:schedule_run', operator: 'max', schedule: 'a/b', user: 'ann' })
})

it.each([
  { action: 'drop', where: { status: 'queued' } },
  { action: 'stop', where: {} },
  { action: 'stop', where: { status: 'gone' } },
  { action: 'stop', where: { tenants: ['acme'] } },
  { action: 'stop', where: { agent: 'x'.repeat(257) } },
  { action: 'stop', where: { olderThan: -1 } },
  { action: 'stop', where: { agent: 'a' }, reason: 'a\nb' },
  { action: 'stop', where: { agent: 'a' }, limit: 1e9 },
  { action: 'stop' },
])('rejects the change %j', async (body) => {
  const { post } = serve()
  expect((await post(manager, '/operations/runs/bulk', body)).status).toBe(400)
})

it('rehearses a queued run with the code of this process, and moves it', async () => {
  const { post, get, start, store } = serve()
  const run = await start(ann, Date.now() + 3_600_000)
  const path = `/operations/runs/${run}/migrate`
  const checked = await post(manager, path, { to: '2', dryRun: true })
  expect([checked.status, checked.json]).toMatchObject([200, { fits: true, moved: false }])
  expect((await post(manager, path, { to: '3' })).json).toMatchObject({ code: 'run.version' })
  expect(await store.audit.chainOf('acme').last()).toBeUndefined()
  expect((await post(manager, path, { to: '2', reason: 'ticket 7' })).json).toMatchObject({ moved: true })
  expect((await get(manager, `/operations/runs/${run}`)).json.run.version).toBe('2')
  const record = JSON.parse((await store.audit.chainOf('acme').last()) ?? '')
  expect(record).toMatchObject({ type: 'operator:migrate', operator: 'max', reason: 'ticket 7', turn: run })
})

it('returns content only with that right and a reason, and not to caches', async () => {
  const { post, ended, store } = serve()
  const run = await ended()
  const path = `/operations/runs/${run}/export`
  expect((await post(manager, path, { reason: 'x' })).status).toBe(404)
  expect((await post(reader, path)).status).toBe(400)
  expect(await store.audit.chainOf('acme').last()).toBeUndefined()
  const { text, response } = await post(reader, path, { reason: 'ticket 7' })
  expect([text.includes('My secret answer.'), response.headers.get('cache-control')]).toEqual([true, 'no-store'])
  const record = JSON.parse((await store.audit.chainOf('acme').last()) ?? '')
  expect(record).toMatchObject({ type: 'operator:content', operator: 'rita' })
})

const paths = (run: string) =>
  [
    ['GET', '/operations/runs'],
    ['GET', '/operations/summary'],
    ['GET', `/operations/runs/${run}`],
    ['POST', `/operations/runs/${run}/stop`],
    ['POST', `/operations/runs/${run}/retry`],
    ['POST', `/operations/runs/${run}/migrate`],
    ['POST', `/operations/runs/${run}/export`],
    ['GET', '/operations/queues'],
    ['GET', '/operations/schedules'],
    ['POST', '/operations/runs/bulk'],
    ['POST', `/operations/runs/${run}/force-stop`],
    ['POST', `/operations/runs/${run}/start-again`],
    ['POST', `/operations/runs/${run}/deny`],
    ['POST', '/operations/schedules/x/pause'],
    ['POST', '/operations/schedules/x/resume'],
    ['POST', '/operations/schedules/x/run'],
  ] as const

it.each<[string, Caller | null, number]>([
  ['nobody', null, 401],
  ['an owner', ann, 404],
  ['a principal whose rights cannot be resolved', { ...ann, rights: 'broken' }, 404],
  ['an operator without a name', { tenantId: 'ops', rights: { tenants: 'all' } }, 404],
  ['an operator with invalid tenants', { ...ann, rights: { tenants: 'acme' } as never }, 404],
])('answers %s on no route', async (_, who, status) => {
  const { get, post, ended, store } = serve()
  const run = await ended()
  for (const [method, path] of paths(run)) {
    const { status: actual } = method === 'GET' ? await get(who, path) : await post(who, path, { reason: 'x', to: '2' })
    expect([path, actual]).toEqual([path, status])
  }
  expect(await store.audit.chainOf('acme').last()).toBeUndefined()
})

it.each(['stop', 'force-stop', 'retry', 'start-again', 'deny', 'migrate', 'export'])(
  'does not let a viewer %s a run',
  async (action) => {
    const { post, ended } = serve()
    const run = await ended()
    expect((await post(viewer, `/operations/runs/${run}/${action}`, { reason: 'x', to: '2' })).status).toBe(404)
  },
)

it.each([
  '?limit=0',
  '?limit=101',
  '?status=gone',
  '?olderThan=-1',
  `?agent=${'x'.repeat(257)}`,
  '?tenants=acme',
  '?cursor=x',
])('rejects the list %s', async (query) => {
  const { get } = serve()
  expect((await get(manager, `/operations/runs${query}`)).status).toBe(400)
})

it('has no route without the option', async () => {
  const { fetch } = server(new Agent({ version: '1', model: scriptedModel([]) }), { principal: () => manager })
  expect((await fetch(new Request('http://x/operations/runs'))).status).toBe(404)
})

it('serves the metrics of durable runs with its own', async () => {
  const store = sqlite(':memory:')
  const { prometheus } = durableMetrics({ operations: operations({ store }) })
  const metrics = { token: 'a token', collect: prometheus }
  const { fetch } = server(new Agent({ version: '1', model: scriptedModel([]) }), { principal: () => ann, metrics })
  const headers = { authorization: 'Bearer a token' }
  const text = await (await fetch(new Request('http://x/metrics', { headers }))).text()
  expect(text).toMatch(/^allium_runs_active 0$[\s\S]*^allium_durable_store_up 1$/m)
})

it('describes its routes in the OpenAPI document', async () => {
  const { get } = serve()
  const { paths, components } = (await get(null, '/openapi.json')).json
  expect(Object.keys(paths)).toContain('/operations/runs/{run}/export')
  expect(components.schemas.OperatedRun.required).toContain('timeline')
})

it.each<object | undefined>([undefined, {}, { canOperate: () => false }, { operations: {}, canOperate: () => false }])(
  'rejects the options %j',
  (options) => {
    expect(() => operator(options as never)).toThrow(expect.objectContaining({ code: 'server.options' }))
  },
)
