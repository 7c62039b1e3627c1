import { tenantOf } from '@allium/core'
import type { RunKey } from '@allium/store'

/** The choice for a turn. A replay and a resumed run get the same one. */
export interface Choice {
  readonly isCanary: boolean
  /** Whom the turn counts for. */
  readonly user?: string
  /** The turn that counts. Undefined if it does not. */
  readonly run?: RunKey
}

interface Turn {
  readonly principal?: unknown
  readonly turnId?: string | undefined
}

/** The choices for the turns that run in this process. Turns of sub-agents have the one of the turn that called them. */
export class LiveArms {
  readonly #choices = new Map<string, Choice>()

  add(turn: Turn, choice: Choice): void {
    this.#choices.set(keyOf(turn, turn.turnId), choice)
  }

  /** Returns the choice and forgets it. */
  take(turn: Turn): Choice | undefined {
    const choice = this.#choices.get(keyOf(turn, turn.turnId))
    this.#choices.delete(keyOf(turn, turn.turnId))
    return choice
  }

  /** The id of a sub-agent's turn starts with `<turn>/<callId>`. */
  find(turn: Turn): Choice | undefined {
    const { turnId = '' } = turn
    for (let end = turnId.length; end > 0; end = turnId.lastIndexOf('/', end - 1)) {
      const choice = this.#choices.get(keyOf(turn, turnId.slice(0, end)))
      if (choice !== undefined) return choice
    }
    return undefined
  }
}

function keyOf({ principal }: Turn, turnId: string | undefined): string {
  return `${tenantOf(principal) ?? ''}\n${turnId}`
}
