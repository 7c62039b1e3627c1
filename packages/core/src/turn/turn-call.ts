import type { Attempt, Ending } from '../onion/attempt.ts'
import type { Hook } from '../onion/hook.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import type { CallOfTurn, Turn } from './turn.ts'

/** A call inside a turn: a model call or a tool call. */
export abstract class TurnCall implements CallOfTurn {
  attempts = 1
  readonly home: SessionScope

  constructor(
    readonly ring: CallOfTurn['ring'],
    readonly hooks: readonly Hook[],
    readonly turn: Turn,
  ) {
    this.home = turn.session
  }

  get outer(): Attempt | undefined {
    return this.turn.lifecycle.core
  }
  get end(): Ending | undefined {
    return this.turn.lifecycle.end
  }
  settled(root: Attempt): void {
    this.turn.lifecycle.ended(root)
  }
  abandoned(layers: readonly Attempt[]): void {
    this.turn.abandoned(layers)
  }
  returned(layer: Attempt): void {
    this.turn.returned(layer)
  }
  late(attempt: Attempt, verb: string): void {
    this.turn.late(attempt, verb)
  }
}
