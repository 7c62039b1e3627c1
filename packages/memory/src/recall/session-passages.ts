import { type FlowLabels, isAlliumError, messageOf, type SessionContext, type StoredTurn } from '@allium/core'
import { heldLease } from '@allium/core/internal'
import { withPassages } from '@allium/store/passages'
import type { Recaller } from './recaller.ts'
import { hasPassages, passagesOf } from './turn-passages.ts'

/** Adds the passages of each run of a session to the turn that `memory.persist` appends. */
export class SessionPassages {
  readonly #ctx: SessionContext
  readonly #recaller: Recaller
  readonly #labelsKey: string

  constructor(ctx: SessionContext, recaller: Recaller, labelsKey: string) {
    this.#ctx = ctx
    this.#recaller = recaller
    this.#labelsKey = labelsKey
  }

  async around(run: () => Promise<StoredTurn>): Promise<StoredTurn> {
    // A session that is not stored has no lease.
    if (this.#ctx.find(heldLease)?.lease === undefined) return run()
    const before = this.#ctx.history.length
    const turn = await run()
    const copied = Math.max(0, before - turn.from)
    return withPassages(turn, { passages: await this.#passagesOf(turn, before), copied })
  }

  /** Returns none if the key cannot be read: the run has had its effects, so it is stored anyway. */
  async #passagesOf(turn: StoredTurn, before: number) {
    if (!hasPassages(turn)) return []
    const { sessionKey, sessionId, principal, logger } = this.#ctx
    try {
      const { tenant, owner } = sessionKey
      const lease = this.#ctx.find(heldLease)?.lease
      const by = { tenant, owner, since: turn.startedAt, ...(lease !== undefined && { lease }) }
      const key = await this.#recaller.storeOf(this.#ctx).key({ tenant, owner }, by)
      if (key === undefined) return []
      const language = await this.#recaller.language()
      const labels = labelsIn(turn.rest.state[this.#labelsKey])
      return passagesOf(turn, { author: this.#recaller.userOf(principal), before, labels }, { key, language })
    } catch (error) {
      // The store rejects the turn, too, and that is reported.
      if (!isAlliumError(error, 'store.fenced'))
        logger.warn(
          `The run "${turn.turnId}" of the session "${sessionId}" is stored, but cannot be recalled: ${messageOf(error)}`,
          { error },
        )
      return []
    }
  }
}

/** Returns the labels of a conversation as `guard.flow` keeps them, with their sources. Undefined if nothing tracks them. */
export function labelsIn(state: unknown): FlowLabels | undefined {
  if (typeof state !== 'object' || state === null) return undefined
  const { untrusted, private: secret } = state as Record<string, unknown>
  return { ...(untrusted !== undefined && { untrusted: true }), ...(secret !== undefined && { private: true }) }
}
