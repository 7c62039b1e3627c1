import type { LayerLate } from '../events/events.ts'
import { reject, rejectAll } from '../onion/abandon.ts'
import type { Attempt, Ending } from '../onion/attempt.ts'

import type { Deadline, Deadlines } from '../ports/deadlines.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'

/** Layers that were abandoned together, with the deadline for their return. A sub-agent's run has no layers here. */
interface AbandonedLayers {
  readonly layers: Set<Attempt>
  readonly deadline: Deadline
}

/** The turn that waits. */
interface GracePeriodHost {
  readonly turnId: string
  readonly hasEnded: boolean
  readonly location: { sessionId: string; turnId: string; stepIndex: number }
  readonly session: Pick<SessionScope, 'agent'>
}

/** The lifecycle of that turn. */
interface EndingLifecycle {
  readonly root: Attempt | undefined
  readonly end: Ending | undefined
  readonly isSettled: boolean
  readonly deadlines: Deadlines
  /** The outermost attempts that are open. */
  open(): Attempt[]
  /** Stops waiting for the layers. */
  giveUp(): void
}

/** Limits how long a turn waits for layers that do not return: the agent's `gracePeriod`. */
export class GracePeriod {
  readonly #turn: GracePeriodHost
  readonly #lifecycle: EndingLifecycle
  #abandonments: AbandonedLayers[] | undefined
  /** Layers outside the hanging ones, after the run gave up on those. */
  #outer: Set<Attempt> | undefined
  #deadline: Deadline | undefined
  #unwound: (() => void) | undefined

  constructor(turn: GracePeriodHost, lifecycle: EndingLifecycle) {
    this.#turn = turn
    this.#lifecycle = lifecycle
  }

  /** These layers were abandoned while they were running. */
  abandoned(layers: readonly Attempt[]): void {
    if (this.#lifecycle.isSettled) return
    const abandonment: AbandonedLayers = {
      layers: new Set(layers),
      deadline: this.#after(() => this.#timedOut(abandonment)),
    }
    this.#abandonments ??= []
    this.#abandonments.push(abandonment)
  }

  /**
   * A sub-agent's run was abandoned together with its tool call. It ends by itself, and side effects of its layers
   * still count while they unwind.
   */
  outlasted(run: PromiseLike<unknown>): void {
    if (this.#lifecycle.isSettled) return
    const abandonment: AbandonedLayers = { layers: new Set(), deadline: this.#after(() => this.#forget(abandonment)) }
    this.#abandonments ??= []
    this.#abandonments.push(abandonment)
    const ended = () => this.#forget(abandonment)
    run.then(ended, ended)
  }

  /** An abandoned layer has returned. */
  returned(layer: Attempt): void {
    for (const abandonment of this.#abandonments ?? [])
      if (abandonment.layers.delete(layer) && abandonment.layers.size === 0) this.#forget(abandonment)
    if (this.#outer?.delete(layer) === true && this.#outer.size === 0) this.#lifecycle.giveUp()
  }

  /** A layer that is over used its context. Each use is reported once, until the turn has ended. */
  late(attempt: Attempt, verb: string): void {
    const turn = this.#turn
    if (turn.hasEnded || attempt.$reportedLate?.has(verb) === true) return
    attempt.$reportedLate ??= new Set()
    attempt.$reportedLate.add(verb)
    const { observers } = turn.session.agent
    if (!observers.events.has('layer:late')) return
    const { $call, $name: layer } = attempt
    const scope = $call.ring.scope as LayerLate['scope']
    observers.emit('layer:late', { type: 'layer:late', ...turn.location, layer, scope, verb })
  }

  /** The run has ended before its layers returned. */
  begin(): void {
    this.#deadline ??= this.#after(() => this.#force())
  }

  /** Resolves when all abandoned layers have returned or timed out. Undefined if there are none. */
  unwound(): Promise<void> | undefined {
    if (this.#abandonments === undefined || this.#outer !== undefined) return undefined
    return new Promise<void>((resolve) => (this.#unwound = resolve))
  }

  /** Rejects next() for the layers around the hanging one. The turn stops waiting. */
  #timedOut(abandonment: AbandonedLayers): void {
    for (const layer of [...abandonment.layers].reverse()) reject(layer, layer.$outcome)
    this.#forget(abandonment)
  }

  #forget(abandonment: AbandonedLayers): void {
    this.#lifecycle.deadlines.remove(abandonment.deadline)
    const others = this.#abandonments?.filter((one) => one !== abandonment)
    this.#abandonments = others?.length === 0 ? undefined : others
    if (this.#abandonments === undefined) this.#unwound?.()
  }

  /** Abandons the hanging layers. The layers around them get the same time again, then the run settles. */
  #force(): void {
    const lifecycle = this.#lifecycle
    const reason = lifecycle.end?.error
    // The promise of the whole turn stays pending until the outer layers have returned.
    const chains = lifecycle.open().map((root) => rejectAll(root, reason, root !== lifecycle.root))
    const hung = chains
      .flatMap((chain) => chain.slice(-1))
      .filter(({ $inner }) => $inner === undefined || $inner.$hook !== undefined)
    this.#outer = new Set(chains.flat().filter((layer) => !hung.includes(layer)))
    if (hung.length > 0) this.#warn(hung)
    if (this.#outer.size === 0) lifecycle.giveUp()
    else this.#after(() => lifecycle.giveUp())
    this.#abandonments = undefined
    this.#unwound?.()
  }

  #warn(hung: readonly Attempt[]): void {
    const { agent } = this.#turn.session
    const names = hung.map((layer) => `"${layer.$name}" (${layer.$call.ring.scope})`).join(', ')
    agent.setup.logger.warn(
      `The run ended without ${names}, still running after ${agent.setup.gracePeriod} ms. Pass ctx.signal to everything that a layer awaits.`,
      { layers: hung.map(({ $name }) => $name), turnId: this.#turn.turnId },
    )
  }

  #after(fn: () => void): Deadline {
    return this.#lifecycle.deadlines.add(this.#turn.session.agent.setup.gracePeriod, fn)
  }
}
