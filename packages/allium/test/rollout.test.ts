import { rollout, type ServedTurn } from '@allium/combinators/rollout'
import { memoryStore } from '@allium/store'
import { describe, expect, it } from 'vitest'
import { Agent, type Middleware } from '../src/index.ts'
import { scriptedModel } from '../src/testing.ts'

const pay = { name: 'pay', description: 'Pays', jsonSchema: { type: 'object' }, execute: () => 'paid' }
const asks: Middleware = {
  name: 'asks',
  tool: (ctx, next) => (ctx.approval === undefined ? ctx.suspend({ reason: 'Pay?' }) : next()),
}
const steps = [{ toolCalls: [{ name: 'pay', callId: 'c1', args: {} }] }, 'Paid.']

/** A turn that was suspended twice under a rollout: the runs of the turn, and what was scored. */
async function suspendedTurn(score?: (turn: ServedTurn) => number) {
  const sessions = memoryStore()
  const store = { sessions, rollouts: sessions.rollouts }
  const tone = rollout({ name: 'tone', turn: (_, next) => next() } as Middleware, { percent: 50, turns: 1, score })
  const twice = [steps[0], { toolCalls: [{ name: 'pay', callId: 'c2', args: {} }] }, 'Paid.'] as typeof steps
  const agent = new Agent({ model: scriptedModel(twice), tools: [pay], store }).use(tone).use(asks)
  const session = agent.session({ id: 'chat', principal: { tenantId: 'acme', userId: 'dana' } })
  const runs = [await session.run('Pay it')]
  for (const callId of ['c1', 'c2']) runs.push(await session.resume({ [callId]: { approve: true } }))
  await tone.settled()
  const key = { tenant: 'acme', owner: 'dana', agent: agent.name, sessionId: 'chat' }
  return { tone, sessions, ids: runs.map(({ turnId }) => turnId), keyOf: (turnId = '') => ({ key, turnId }) }
}

describe('A turn that was suspended, in a rollout', () => {
  it('is given to the score with the id of the run that answered, which the store has', async () => {
    const served: ServedTurn[] = []
    const { sessions, ids } = await suspendedTurn((turn) => served.push(turn))
    expect(served.map(({ run, text }) => [run.turnId, text])).toEqual([[ids[2], 'Paid.']])
    const [{ run }] = served as [ServedTurn]
    expect(await sessions.find(run.key, { turnId: run.turnId })).toMatchObject({ status: 'completed', rootId: ids[0] })
  })

  it.each([0, 1, 2])('counts once when it is scored later under the id of run %i', async (run) => {
    const { tone, ids, keyOf } = await suspendedTurn()
    expect(new Set(ids).size).toBe(3)
    expect(await tone.score(keyOf('unknown'), 1)).toBe(false)
    expect(await tone.score(keyOf(ids[run]), 1)).toBe(true)
    const { canary, baseline } = (await tone.look()) ?? {}
    expect((canary?.scores[10] ?? 0) + (baseline?.scores[10] ?? 0)).toBe(1)
    expect(await tone.score(keyOf(ids[2]), 0)).toBe(false)
  })
})
