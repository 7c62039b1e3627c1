import { Agent, type Middleware } from '@allium/core'
import { type AgentStore, memoryStore, sharedStore } from '@allium/store'
import { type ManualClock, manualClock, scriptedModel } from '@allium/testing'
import { type RolloutOptions, rollout } from '../../src/rollout.ts'

/** The layer that is rolled out: it makes answers worse. */
export const rude: Middleware = {
  name: 'rude',
  async turn(ctx) {
    ctx.output = 'Go away.'
  },
}

export const isPolite = ({ text }: { text: string }) => text === 'Hello.'

/** A store of rollouts, which several agents may share. */
export function shared(clock: ManualClock = manualClock()) {
  return { clock, store: memoryStore({ clock }) }
}

/** An agent with a rollout, as one process of several. */
export function serve(options: Partial<RolloutOptions> = {}, { clock, store } = shared(), layer = rude) {
  const warnings: string[] = []
  const events: string[] = []
  const handle = rollout(layer, { percent: 50, turns: 1, refresh: 0, score: isPolite, ...options })
  const provide: Middleware = {
    name: 'store',
    provides: [sharedStore],
    agent(ctx, next) {
      ctx.provide(sharedStore, { sessions: store, rollouts: store.rollouts } satisfies AgentStore)
      return next()
    },
  }
  const logger = { warn: (message: string) => warnings.push(message), error() {} }
  const agent = new Agent({ model: scriptedModel(Array.from({ length: 2000 }, () => 'Hello.')), clock, logger })
    .use(provide)
    .use(handle)
  agent.on('rollout:decided', ({ verdict, round }) => events.push(`${verdict} ${round}`))
  /** Answers one turn of a user, and counts it. */
  const ask = async (userId: string, tenantId = 'acme', { id, turnId }: { id?: string; turnId?: string } = {}) => {
    const session = { ...(id !== undefined && { id }), principal: { userId, tenantId } }
    const { text } = await agent.run('Hi', { session, ...(turnId !== undefined && { turnId }) })
    await handle.settled()
    return { text, isRude: text !== 'Hello.' }
  }
  return { agent, handle, ask, warnings, events, clock, store }
}

/** The number of users who have counted, and their mean score, in each arm. */
export function arms(state: { canary: Arm; baseline: Arm } | undefined) {
  return [state?.canary, state?.baseline].map((arm) => arm?.scores.reduce((sum, count) => sum + count, 0))
}
type Arm = { readonly scores: readonly number[] }
