import { defineMiddleware, heldLease, layerOptions, memoryStore, option, type SessionStore } from '@allium/core'
import { StoredConversation } from './stored-conversation.ts'

export interface PersistOptions {
  /** Where sessions are kept. @default one in this process */
  store?: SessionStore | undefined
  /** Milliseconds for which a run takes its session, renewed while it lasts; after a crash others wait that long. @default 10_000 */
  lease?: number | undefined
  /** Whether sessions are stored that were given no id, too: a run that nobody means to go on with leaves nothing else. @default false */
  anonymous?: boolean | undefined
  /** The layer's name. @default 'memory:persist' */
  as?: string | undefined
}

const readOptions = layerOptions<PersistOptions>('memory:persist', {
  store: option.object,
  lease: option.number({ above: 0 }),
  anonymous: option.flag,
})

/**
 * Keeps each session in a store: it is loaded when it opens, and every run is appended when it has ended, whichever way.
 * While a run lasts no other process can run the session.
 *
 * Use it where a conversation outlives a process, or where several serve it. A session that was given no id leaves nothing in the
 * store, unless `anonymous` says so. State with `persist: false` is left out.
 * A run that cannot be stored fails with the store's error; one whose session runs elsewhere with `session.busy`.
 *
 * @example
 * const agent = new Agent({ model }).use(memory.persist({ store }))
 * await agent.session({ id: 'chat-1', principal: { tenantId: 'acme' } }).run('Hello again')
 */
export function persist(options: PersistOptions = {}) {
  const { store = memoryStore(), lease = 10_000, anonymous = false, as = 'memory:persist' } = readOptions(options)
  /** By the history that only one session has: one that was idle goes on where it was, if nobody else has gone on. */
  const conversations = new WeakMap<object, StoredConversation>()
  return defineMiddleware({
    name: as,
    // Not `persists`: it stores the history as it is once every layer has returned, wherever it stands.
    order: { is: ['keepers'] },
    provides: [heldLease],
    async session(ctx, next) {
      if (ctx.anonymous && !anonymous) return next()
      const conversation = conversations.get(ctx.history) ?? new StoredConversation(store, lease, ctx)
      await conversation.load(ctx)
      ctx.keep(conversation)
      conversations.set(ctx.history, conversation)
      ctx.provide(heldLease, conversation)
      await next()
    },
  })
}
