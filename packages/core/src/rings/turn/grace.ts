import { reject, rejectAll } from '../../onion/abandon.ts'
import type { Attempt } from '../../onion/attempt.ts'
import { nameOf } from '../../onion/misuse.ts'
import type { Deadline } from '../../seams/deadlines.ts'
import type { Life } from './life.ts'
import type { Turn } from './turn.ts'

/** What was left together, and when nobody waits for it any more. A run of a sub-agent has no layers here. */
interface Leaving {
  readonly layers: Set<Attempt>
  readonly deadline: Deadline
}

/** How long a turn waits for layers that do not come back: the agent's `abortGrace`. */
export class Grace {
  readonly #turn: Turn
  readonly #life: Life
  #leavings: Leaving[] | undefined
  /** Layers around those that hang, once the run has given these up. */
  #around: Set<Attempt> | undefined
  #deadline: Deadline | undefined
  #unwound: (() => void) | undefined

  constructor(turn: Turn, life: Life) {
    this.#turn = turn
    this.#life = life
  }

  /** Layers were left while they ran. */
  abandoned(layers: readonly Attempt[]): void {
    if (this.#life.decided) return
    const leaving: Leaving = { layers: new Set(layers), deadline: this.#after(() => this.#expired(leaving)) }
    this.#leavings ??= []
    this.#leavings.push(leaving)
  }

  /** A sub-agent's run was left with its tool call: it ends by itself, and what its layers still do while they unwind counts. */
  outlasted(run: PromiseLike<unknown>): void {
    if (this.#life.decided) return
    const leaving: Leaving = { layers: new Set(), deadline: this.#after(() => this.#forget(leaving)) }
    this.#leavings ??= []
    this.#leavings.push(leaving)
    const ended = () => this.#forget(leaving)
    run.then(ended, ended)
  }

  /** A layer that was left has come back. */
  returned(layer: Attempt): void {
    for (const leaving of this.#leavings ?? [])
      if (leaving.layers.delete(layer) && leaving.layers.size === 0) this.#forget(leaving)
    if (this.#around?.delete(layer) === true && this.#around.size === 0) this.#life.giveUp()
  }

  /** The run has ended before its layers did. */
  begin(): void {
    this.#deadline ??= this.#after(() => this.#force())
  }

  /** When the layers of left attempts have come back, or their time is over; undefined where there are none. */
  unwound(): Promise<void> | undefined {
    if (this.#leavings === undefined || this.#around !== undefined) return undefined
    return new Promise<void>((resolve) => (this.#unwound = resolve))
  }

  /** Those around what hangs learn it from their next(); the turn waits no longer. */
  #expired(leaving: Leaving): void {
    for (const layer of [...leaving.layers].reverse()) reject(layer, layer.$outcome)
    this.#forget(leaving)
  }

  #forget(leaving: Leaving): void {
    this.#life.deadlines.remove(leaving.deadline)
    const others = this.#leavings?.filter((one) => one !== leaving)
    this.#leavings = others?.length === 0 ? undefined : others
    if (this.#leavings === undefined) this.#unwound?.()
  }

  /** What hangs is left; the layers around it have as long again, then the run settles. */
  #force(): void {
    const life = this.#life
    const reason = life.end?.error
    // The promise of the whole turn is kept back, until the layers around have come back.
    const chains = life.open().map((root) => rejectAll(root, reason, root !== life.root))
    const hung = chains
      .flatMap((chain) => chain.slice(-1))
      .filter(({ $inner }) => $inner === undefined || !isCore($inner))
    this.#around = new Set(chains.flat().filter((layer) => !hung.includes(layer)))
    if (hung.length > 0) this.#tell(hung)
    if (this.#around.size === 0) life.giveUp()
    else this.#after(() => life.giveUp())
    this.#leavings = undefined
    this.#unwound?.()
  }

  #tell(hung: readonly Attempt[]): void {
    const { agent } = this.#turn.session
    const names = hung.map((layer) => `"${nameOf(layer)}" (${layer.$call.ring.scope})`).join(', ')
    agent.setup.logger.warn(
      `The run has ended without ${names}, which did not come back within ${agent.setup.abortGrace} ms. Pass ctx.signal to all that a layer waits for.`,
      { layers: hung.map(nameOf), turnId: this.#turn.turnId },
    )
  }

  #after(fn: () => void): Deadline {
    return this.#life.deadlines.add(this.#turn.session.agent.setup.abortGrace, fn)
  }
}

function isCore({ $hook }: Attempt): boolean {
  return $hook === undefined
}
