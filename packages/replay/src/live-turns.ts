import { type SessionContext, sessionKeyOf, type TurnView, tenantOf } from '@allium/core'
import type { TurnRecorder } from './turn-recorder.ts'

/** The turns that are being recorded, by tenant and id. Turns of sub-agents belong to the turn that called them. */
export class LiveTurns {
  readonly #turns = new Map<string, TurnRecorder>()
  /** By the session's key and the turn's id. */
  readonly #runs = new Map<string, TurnRecorder>()

  /** Returns false if a turn with this id is running, because the two could not be told apart. */
  add(ctx: SessionContext, turnId: string, turn: TurnRecorder): boolean {
    const key = keyOf(ctx.principal, turnId)
    if (this.#turns.has(key)) return false
    this.#turns.set(key, turn)
    this.#runs.set(`${sessionKeyOf(ctx)}\n${turnId}`, turn)
    return true
  }

  delete(ctx: SessionContext, turnId: string): void {
    this.#turns.delete(keyOf(ctx.principal, turnId))
    this.#runs.delete(`${sessionKeyOf(ctx)}\n${turnId}`)
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

  /** Returns the recorder of the run that a layer reserves for. Layers name it by a JSON list: their name, the session, the turn. */
  ofRun(run: string): TurnRecorder | undefined {
    if (this.#runs.size === 0) return undefined
    try {
      const [, session, turnId] = JSON.parse(run) as readonly unknown[]
      return this.#runs.get(`${session}\n${turnId}`)
    } catch {
      return undefined
    }
  }
}

function keyOf(principal: unknown, turnId: string): string {
  return `${tenantOf(principal) ?? ''}\n${turnId}`
}
