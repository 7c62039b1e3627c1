import { defineMiddleware } from '@allium/core'
import { aroundRun, aroundStep, isAnonymous, provideTurns } from '@allium/core/context'
import { heldLease } from '@allium/core/internal'
import type { SessionStore } from '@allium/store'
import type { StoredConversation } from './stored-conversation.ts'

export interface SessionStorageOptions {
  readonly store: SessionStore
  /** As for `persist()`, in milliseconds. */
  readonly lease?: number | undefined
  readonly anonymous?: boolean | undefined
  readonly as?: string | undefined
}

/** The layer of `persist()` for a given store. An agent with a store includes no other one. */
export function sessionStorage(options: SessionStorageOptions) {
  const { store, lease = 10_000, anonymous = false, as = 'memory:persist' } = options
  /** By history, which is unique to a session. An idle session continues from memory unless another process has continued it. */
  const conversations = new WeakMap<object, StoredConversation>()
  return defineMiddleware({
    name: as,
    // Not `persists`: it stores the final history after all layers have returned, regardless of its position.
    order: { is: ['sessionStorage'] },
    provides: [heldLease],
    async session(ctx, next) {
      if (isAnonymous(ctx) && !anonymous) return next()
      const conversation = conversations.get(ctx.history) ?? (await newConversation(store, lease, ctx))
      await conversation.load(ctx)
      aroundRun(ctx, (run, startRun) => conversation.aroundRun(run, startRun))
      aroundStep(ctx, (step, runStep) => conversation.aroundStep(step, runStep))
      provideTurns(ctx, (turnId) => conversation.find(turnId))
      conversations.set(ctx.history, conversation)
      ctx.provide(heldLease, conversation)
      await next()
    },
  })
}

let Loaded: typeof StoredConversation | undefined

/** Loaded with the first session that is stored: programs without a store do not need it. */
async function newConversation(
  ...given: ConstructorParameters<typeof StoredConversation>
): Promise<StoredConversation> {
  Loaded ??= (await import('@allium/memory/stored-conversation')).StoredConversation
  return new Loaded(...given)
}
