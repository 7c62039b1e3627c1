import { type TurnView, tenantOf } from '@allium/core'
import type { TurnRecorder } from './turn-recorder.ts'

/** The turns that are being recorded, by tenant and id. Turns of sub-agents belong to the turn that called them. */
export class LiveTurns {
  readonly #turns = new Map<string, TurnRecorder>()

  /** Returns false if a turn with this id is running, because the two could not be told apart. */
  add(principal: unknown, turnId: string, turn: TurnRecorder): boolean {
    const key = keyOf(principal, turnId)
    if (this.#turns.has(key)) return false
    this.#turns.set(key, turn)
    return true
  }

  delete(principal: unknown, turnId: string): void {
    this.#turns.delete(keyOf(principal, turnId))
  }

  /** Returns the recorder for a layer's context. The id of a sub-agent's turn starts with `<turn>/<callId>`. */
  find({ principal, turnId }: TurnView): TurnRecorder | undefined {
    if (this.#turns.size === 0) return undefined
    const own = this.#turns.get(keyOf(principal, turnId))
    if (own !== undefined) return own
    for (let at = turnId.indexOf('/'); at >= 0; at = turnId.indexOf('/', at + 1)) {
      const outer = this.#turns.get(keyOf(principal, turnId.slice(0, at)))
      if (outer !== undefined) return outer
    }
    return undefined
  }
}

function keyOf(principal: unknown, turnId: string): string {
  return `${tenantOf(principal) ?? ''}\n${turnId}`
}
