import { type Message, type ModelContext, messageOf, type ToolContext, type TurnView } from '@allium/core'
import { isResumed } from '@allium/core/context'
import type { Hooks, LiveConfig } from './hooks.ts'

/** Any context inside a turn. */
export type InTurn = TurnView | ModelContext | ToolContext

/** One run of the loop, as the hooks see it. */
export class Loop {
  readonly hooks: Hooks
  readonly maxIterations: number
  /** The current step. */
  iteration: number
  /** Whether a step has begun whose end was not reported. */
  open = false
  /** The pending report of an iteration's end. */
  ending: Promise<void> | undefined
  /** Why the loop was stopped, if it was. */
  stopped: string | undefined
  #lastStep = -1
  readonly #reported = new WeakSet<object>()
  readonly #turn: InTurn
  #signal: AbortController | undefined

  constructor(turn: InTurn, { hooks, maxIterations }: LiveConfig) {
    this.#turn = turn
    this.hooks = hooks
    this.maxIterations = maxIterations
    this.iteration = turn.stepIndex
  }

  get sessionId(): string {
    return this.#turn.sessionId
  }
  get resumed(): boolean {
    return isResumed(this.#turn)
  }
  get usage(): { inputTokens: number; outputTokens: number } {
    const { inputTokens, outputTokens } = this.#turn.usage
    return { inputTokens, outputTokens }
  }
  /** The messages that the next model call starts from. A sub-agent's turn does not have this layer, so there it is the history. */
  get messages(): readonly Readonly<Message>[] {
    return this.#isTurn ? this.#turn.messages : this.#turn.history
  }
  set messages(messages: Message[]) {
    if (this.#isTurn) this.#turn.messages = messages
  }

  /** The hooks' own signal. It also aborts after `stop()`, unlike the run's. */
  get signal(): AbortSignal {
    if (this.#signal === undefined) {
      const controller = (this.#signal = new AbortController())
      const { signal } = this.#turn
      const follow = () => controller.abort(signal.reason)
      if (signal.aborted) follow()
      else signal.addEventListener('abort', follow, { once: true })
      if (this.stopped !== undefined) controller.abort(new DOMException(this.stopped, 'AbortError'))
    }
    return this.#signal.signal
  }

  /** Begins a step, unless a late abandoned attempt tries to begin an earlier one. */
  begin(step: number): void {
    if (step <= this.#lastStep) return
    this.#lastStep = step
    this.iteration = step
    this.open = true
  }

  stop(reason?: unknown): void {
    if (this.stopped !== undefined) return
    const text = messageOf(reason ?? 'stopped')
    this.stopped = text
    this.#turn.stop(text)
    this.#signal?.abort(new DOMException(text, 'AbortError'))
  }

  /** Whether this error has not been reported to `onError` yet. */
  isNew(error: unknown): boolean {
    if (typeof error !== 'object' || error === null) return true
    if (this.#reported.has(error)) return false
    this.#reported.add(error)
    return true
  }

  get #isTurn(): boolean {
    return !('callIndex' in this.#turn)
  }
}

/** The loops of an agent, by the scratch record that a turn shares with its calls. */
export class Loops {
  readonly #liveConfig: LiveConfig
  readonly #loops = new WeakMap<object, Loop>()

  constructor(liveConfig: LiveConfig) {
    this.#liveConfig = liveConfig
  }

  of(ctx: InTurn): Loop {
    const key = ctx.metadata
    let loop = this.#loops.get(key)
    if (loop === undefined) this.#loops.set(key, (loop = new Loop(ctx, this.#liveConfig)))
    return loop
  }
}
