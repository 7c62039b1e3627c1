import { reject, rejectAll } from '../../onion/abandon.ts'
import type { Attempt } from '../../onion/attempt.ts'
import { nameOf } from '../../onion/misuse.ts'
import type { Deadline } from '../../seams/deadlines.ts'
import type { Turn } from './turn.ts'
import type { TurnLifecycle } from './turn-lifecycle.ts'

/** What was left together, and when nobody waits for it any more. A run of a sub-agent has no layers here. */
interface AbandonedLayers {
  readonly layers: Set<Attempt>
  readonly deadline: Deadline
}

/** How long a turn waits for layers that do not come back: the agent's `abortGrace`. */
export class GracePeriod {
  readonly #turn: Turn
  readonly #lifecycle: TurnLifecycle
  #abandonments: AbandonedLayers[] | undefined
  /** Layers around those that hang, once the run has given these up. */
  #outer: Set<Attempt> | undefined
  #deadline: Deadline | undefined
  #unwound: (() => void) | undefined

  constructor(turn: Turn, lifecycle: TurnLifecycle) {
    this.#turn = turn
    this.#lifecycle = lifecycle
  }

  /** Layers were left while they ran. */
  abandoned(layers: readonly Attempt[]): void {
    if (this.#lifecycle.isSettled) return
    const abandonment: AbandonedLayers = {
      layers: new Set(layers),
      deadline: this.#after(() => this.#timedOut(abandonment)),
    }
    this.#abandonments ??= []
    this.#abandonments.push(abandonment)
  }

  /** A sub-agent's run was left with its tool call: it ends by itself, and what its layers still do while they unwind counts. */
  outlasted(run: PromiseLike<unknown>): void {
    if (this.#lifecycle.isSettled) return
    const abandonment: AbandonedLayers = { layers: new Set(), deadline: this.#after(() => this.#forget(abandonment)) }
    this.#abandonments ??= []
    this.#abandonments.push(abandonment)
    const ended = () => this.#forget(abandonment)
    run.then(ended, ended)
  }

  /** A layer that was left has come back. */
  returned(layer: Attempt): void {
    for (const abandonment of this.#abandonments ?? [])
      if (abandonment.layers.delete(layer) && abandonment.layers.size === 0) this.#forget(abandonment)
    if (this.#outer?.delete(layer) === true && this.#outer.size === 0) this.#lifecycle.giveUp()
  }

  /** The run has ended before its layers did. */
  begin(): void {
    this.#deadline ??= this.#after(() => this.#force())
  }

  /** When the layers of left attempts have come back, or their time is over; undefined where there are none. */
  unwound(): Promise<void> | undefined {
    if (this.#abandonments === undefined || this.#outer !== undefined) return undefined
    return new Promise<void>((resolve) => (this.#unwound = resolve))
  }

  /** Those around what hangs learn it from their next(); the turn waits no longer. */
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

  /** What hangs is left; the layers around it have as long again, then the run settles. */
  #force(): void {
    const lifecycle = this.#lifecycle
    const reason = lifecycle.end?.error
    // The promise of the whole turn is kept back, until the layers around have come back.
    const chains = lifecycle.open().map((root) => rejectAll(root, reason, root !== lifecycle.root))
    const hung = chains
      .flatMap((chain) => chain.slice(-1))
      .filter(({ $inner }) => $inner === undefined || !isCore($inner))
    this.#outer = new Set(chains.flat().filter((layer) => !hung.includes(layer)))
    if (hung.length > 0) this.#warn(hung)
    if (this.#outer.size === 0) lifecycle.giveUp()
    else this.#after(() => lifecycle.giveUp())
    this.#abandonments = undefined
    this.#unwound?.()
  }

  #warn(hung: readonly Attempt[]): void {
    const { agent } = this.#turn.session
    const names = hung.map((layer) => `"${nameOf(layer)}" (${layer.$call.ring.scope})`).join(', ')
    agent.setup.logger.warn(
      `The run ended without ${names}, still running after ${agent.setup.abortGrace} ms. Pass ctx.signal to everything that a layer awaits.`,
      { layers: hung.map(nameOf), turnId: this.#turn.turnId },
    )
  }

  #after(fn: () => void): Deadline {
    return this.#lifecycle.deadlines.add(this.#turn.session.agent.setup.abortGrace, fn)
  }
}

function isCore({ $hook }: Attempt): boolean {
  return $hook === undefined
}
