import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Model } from '@allium/core'
import { persist } from '@allium/memory'
import { journalConformance, type ScriptedStep, scriptedModel } from '@allium/testing'
import { afterAll, describe, expect, it } from 'vitest'
import type { PostgresStore } from '../../store-postgres/src/index.ts'
import { sql, storesAt } from '../../store-postgres/test/schemas.ts'
import { anyServer } from '../../store-postgres/test/server.ts'
import { durable, type Entry } from '../src/index.ts'
import { eventsOf, imageProcess, namesOf, startImages, untilLogged, untilLost } from './image-run.ts'
import { storedJournal } from './stored-journal.ts'

const server = await anyServer()
const stores = storesAt(server?.url ?? '')
afterAll(async () => {
  await stores.end()
  await server?.end()
})

const principal = { tenantId: 'acme', userId: 'ann' }
/** A process on a store; one that is lost renews nothing, and is heard of no more. */
function processOn(store: PostgresStore, model: Model, { paid = [] as string[], lease = 1000 } = {}) {
  const tool = { name: 'pay', description: 'Pays', jsonSchema: {}, execute: () => void paid.push('paid') }
  const agent = new Agent({ version: '1', model, tools: [tool as never] }).use(persist({ store: store.sessions }))
  return durable(agent, { store, lease, logger: { ...console, warn() {}, error() {} } })
}

describe.skipIf(server === undefined)('durable runs on Postgres', () => {
  journalConformance({
    name: 'the journal',
    describe,
    it: (name, run) => it(name, run, 60_000),
    async makeJournal() {
      return storedJournal(stores.fresh())
    },
  })

  it('goes on in another process where one was lost: nothing is paid twice, and the reader ends with the stored text', async () => {
    const call: ScriptedStep = { toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }
    const store = stores.fresh()
    const paid: string[] = []
    const lost = processOn(store, scriptedModel([call, { stall: true }]), { paid })
    const { run } = await lost.start({ principal, sessionId: 'chat', input: 'Pay.' })
    const stored = await store.runs.get({ tenant: 'acme', run })
    const of = { key: stored?.key ?? { tenant: '', owner: '', agent: 'agent', sessionId: '' }, token: 0, version: 0 }
    while (!(await store.runs.steps(of, run)).some(({ id }) => id.includes('tool:c1'))) await sleep(20)
    // It is cut off from its store, as a machine that has lost its network.
    await store.close()
    const model = scriptedModel(['Paid.'])
    const next = processOn(stores.again(store), model, { paid })
    let text = ''
    for await (const { event } of next.attach(run, { principal })) {
      const { type, delta } = (event as Entry).event as { type: string; delta?: string }
      if (type === 'model:reset') text = ''
      if (type === 'text-delta') text += delta
    }
    const info = await next.get(run, { principal })
    expect([paid, model.requests.length, info.status, info.text, text]).toEqual([
      ...[['paid'], 1, 'completed', 'Paid.', 'Paid.'],
    ])
    await next.drain()
    await lost.drain()
  })

  it('lets two processes share what waits: each run is run once', async () => {
    const store = stores.fresh()
    const models = [0, 1].map(() => scriptedModel(Array.from({ length: 20 }, () => 'Done.')))
    // Neither process is lost, also where the machine is busy for seconds.
    const both = models.map((model, i) => processOn(i === 0 ? store : stores.again(store), model, { lease: 30_000 }))
    const runAt = Date.now() + 500
    const tasks = Array.from({ length: 12 }, (_, i) =>
      both[0]?.start({ principal, sessionId: `s${i}`, input: 'Go', runAt }),
    )
    const started = await Promise.all(tasks)
    for (const one of started) for await (const _ of both[1]?.attach(one?.run ?? '', { principal }) ?? []);
    expect(models.reduce((sum, { requests }) => sum + requests.length, 0)).toBe(12)
    await Promise.all(both.map((one) => one.drain()))
  })

  it('goes on with images where its process was lost, stores each once, and leaves no byte after an erasure', async () => {
    const store = stores.fresh()
    const pieces = async () => {
      const [row] = await sql(server?.url ?? '', `select count(*) as n from "${stores.schemaOf(store)}".blobs`)
      return Number(row?.n)
    }
    // Long enough for a busy machine: a run that it took over from itself would use up its script.
    const lost = imageProcess(store, untilLost, { lease: 8000 })
    const { run } = await startImages(lost.runs)
    const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }
    while (!(await store.runs.steps({ key, token: 0, version: 0 }, run)).some(({ id }) => id.includes('tool:c1')))
      await sleep(20)
    await untilLogged(store, { key, turnId: run })
    await store.close()
    const again = stores.again(store)
    const next = imageProcess(again, ['Three images.'], { lease: 8000 })
    const events = await eventsOf(next.runs, run)
    const all = ['generated', 'input', 'tool']
    expect([namesOf(next.model.requests[0]?.messages), next.called, namesOf(events)]).toEqual([all, [], ['generated']])
    expect(namesOf((await again.sessions.load(key))?.history)).toEqual(all)
    await next.runs.drain()
    expect(await pieces()).toBe(3 * 31)
    await again.sessions.erase({ tenant: 'acme', owner: 'ann' })
    expect(await pieces()).toBe(0)
    await lost.runs.drain()
  })
})
