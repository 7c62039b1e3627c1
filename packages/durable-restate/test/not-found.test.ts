import { Agent, type Clock, systemClock } from '@allium/core'
import { expect, it } from 'vitest'
import { scriptedModel } from '../../testing/src/index.ts'
import { durableRestate } from '../src/index.ts'

const principal = { tenantId: 'acme', userId: 'ann' }

/** A client of an ingress that answers a start, then these statuses. */
async function startedRun(...statuses: number[]) {
  const waits: number[] = []
  const clock: Clock = {
    ...systemClock,
    after(ms, fn) {
      waits.push(ms)
      queueMicrotask(fn)
      return () => {}
    },
  }
  const fetch: typeof globalThis.fetch = async (_, init) =>
    init?.method === 'POST'
      ? Response.json({ status: 'Accepted' })
      : new Response('{"message":"not found"}', { status: statuses.length > 1 ? statuses.shift() : statuses[0] })
  const durable = durableRestate(new Agent({ name: 'desk', model: scriptedModel([]) }), { fetch, clock })
  const { run } = await durable.start({ principal, sessionId: 'chat', input: 'hi' })
  return { get: () => durable.get(run, { principal }), waits }
}

it('finds a run that a server which has just started does not know at first', async () => {
  const { get, waits } = await startedRun(404, 404, 470)
  expect([await get(), waits]).toEqual([{ status: 'open' }, [100, 200]])
})

it('says that there is no run after five answers of 404', async () => {
  const { get, waits } = await startedRun(404)
  await expect(get()).rejects.toMatchObject({ code: 'session.not_found' })
  expect(waits).toEqual([100, 200, 400, 800])
})
