import type { TurnView } from '@allium/core'
import { callerOf } from '@allium/core/context'

/**
 * Chooses one of several layers that report to the same destination. A sub-agent may inherit such a layer and have one of its own: then
 * the one of the outer agent reports, so that everything counts once.
 */
export class Reporters<Reporter> {
  readonly #byTurn = new WeakMap<object, Map<unknown, Reporter>>()

  /** Returns what reports a turn and its calls: what reports the turn of the agent that called it, or else what asks first. */
  forTurn(ctx: TurnView, destination: unknown, own: Reporter): Reporter {
    const { metadata } = ctx
    const reporters = this.#byTurn.get(metadata) ?? new Map(this.#byTurn.get(callerOf(ctx)?.metadata ?? metadata))
    const reporter = reporters.get(destination) ?? own
    this.#byTurn.set(metadata, reporters.set(destination, reporter))
    return reporter
  }
}
