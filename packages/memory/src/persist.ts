import { defineMiddleware, layerOptions, option } from '@allium/core'
import { aroundRun, aroundStep, isAnonymous, provideTurns } from '@allium/core/context'
import { heldLease } from '@allium/core/internal'
import type { SessionStore } from '@allium/store'
import { StoredConversation } from './stored-conversation.ts'

export interface PersistOptions {
  /** The store of the sessions: of a database, or `memoryStore()` for one in this process. */
  store: SessionStore
  /**
   * The lease of a session during a run in milliseconds, renewed while the run lasts. After a crash other processes wait that long.
   * @default 10_000
   */
  lease?: number | undefined
  /** Whether sessions without an id are stored too. By default such a run leaves nothing in the store. @default false */
  anonymous?: boolean | undefined
  /** The layer's name. @default 'memory:persist' */
  as?: string | undefined
}

const readOptions = layerOptions<PersistOptions>('memory:persist', {
  store: option.required(option.object, 'the store of the sessions, such as sqlite("allium.db").sessions'),
  lease: option.number({ above: 0 }),
  anonymous: option.flag,
})

/**
 * Stores each session: loads it when it opens, and appends every run when it ends, with any status. While a run lasts, no other
 * process can run the session.
 *
 * Use it for conversations that outlive a process, or that several processes serve. A session without an id leaves nothing in the
 * store, unless `anonymous` is set. State with `persist: false` is not stored.
 * A run that cannot be stored fails with the store's error. A run whose session is running elsewhere fails with `session.busy`.
 *
 * @example
 * const agent = new Agent({ model }).use(memory.persist({ store }))
 * await agent.session({ id: 'chat-1', principal: { tenantId: 'acme' } }).run('Hello again')
 */
export function persist(options: PersistOptions) {
  const { store, lease = 10_000, anonymous = false, as = 'memory:persist' } = readOptions(options)
  /** By history, which is unique to a session. An idle session continues from memory unless another process has continued it. */
  const conversations = new WeakMap<object, StoredConversation>()
  return defineMiddleware({
    name: as,
    // Not `persists`: it stores the final history after all layers have returned, regardless of its position.
    order: { is: ['sessionStorage'] },
    provides: [heldLease],
    async session(ctx, next) {
      if (isAnonymous(ctx) && !anonymous) return next()
      const conversation = conversations.get(ctx.history) ?? new StoredConversation(store, lease, ctx)
      await conversation.load(ctx)
      aroundRun(ctx, (run, next) => conversation.aroundRun(run, next))
      aroundStep(ctx, (step, next) => conversation.aroundStep(step, next))
      provideTurns(ctx, (turnId) => conversation.find(turnId))
      conversations.set(ctx.history, conversation)
      ctx.provide(heldLease, conversation)
      await next()
    },
  })
}
