import type { StoredTurn } from '@allium/core'
import type { PassageTurn, TurnPassages } from '../passage-store.ts'

/**
 * Returns a turn with the passages that `append` stores with it. For a layer that wraps runs inside `memory.persist`: outside of it, the turn
 * has been stored already.
 *
 * Passages are the messages of the user and the completed answer. Pass none for a turn that was blocked, failed or aborted. `copied` is the
 * number of messages before the run beyond the turn's `from`.
 *
 * @example
 * aroundRun(ctx, async (run, next) => {
 *   const { length } = run.before().history
 *   const turn = await next()
 *   return withPassages(turn, { passages: passagesOf(turn), copied: Math.max(0, length - turn.from) })
 * })
 */
export function withPassages(turn: StoredTurn, { passages, copied }: TurnPassages): PassageTurn {
  return { ...turn, ...(passages?.length && { passages }), ...(copied && { copied }) }
}
