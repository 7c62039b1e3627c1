import type { AgentRun, RunOptions, RunResult } from '@allium/core'

/** The options of a group's run: those of `session.run()` that every agent of the group takes. */
export type GroupRunOptions = Omit<RunOptions, 'use' | 'turnId' | 'output' | 'model' | 'context'>

type Turn = AgentRun<unknown>
type Result = RunResult<unknown>
type Events = Turn extends AsyncIterable<infer E> ? E : never

/** A turn that has started, in an object because a run can be awaited. */
export interface StartedTurn {
  readonly turn: Turn
}

/** The turns of a run. */
interface Turns {
  /** Starts the first turn. */
  begin(signal: AbortSignal): Promise<StartedTurn>
  /** Starts the turn after a handoff. Returns undefined if the turn before did not hand off. */
  next(result: Result, signal: AbortSignal): Promise<StartedTurn | undefined>
}

interface Leg extends StartedTurn {
  readonly result: Promise<Result>
  readonly next: Promise<Leg | undefined>
}

/**
 * The turns that answer one input: one, and a further one after each handoff. Await it for the result of the last turn, iterate it for the
 * events of all turns, or both. Leaving the iteration aborts the run.
 */
export class GroupRun implements PromiseLike<Result>, AsyncIterable<Events> {
  readonly #abort = new AbortController()
  readonly #signal: AbortSignal
  readonly #turns: Turns
  readonly #first: Promise<Leg>
  #isAwaited = false
  #turn: Turn | undefined

  constructor(signal: AbortSignal | undefined, turns: Turns) {
    this.#turns = turns
    this.#signal = signal === undefined ? this.#abort.signal : AbortSignal.any([signal, this.#abort.signal])
    this.#first = turns.begin(this.#signal).then((started) => this.#leg(started))
    this.#first.catch(() => {})
  }

  /** Cancels the current turn. The run rejects with an AbortError, and no further turn starts. */
  abort(reason?: unknown): void {
    this.#abort.abort(reason)
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting the run is its plain use
  then<A = Result, B = never>(
    onResult?: ((result: Result) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#isAwaited = true
    this.#turn?.then().catch(() => {})
    return this.#last().then(onResult, onError)
  }

  /** Yields the events of each turn, from `turn:start` to `turn:end`. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Events, undefined> {
    for (let leg: Leg | undefined = await this.#first; leg !== undefined; leg = await leg.next) yield* leg.turn
    return undefined
  }

  async #last(): Promise<Result> {
    let leg = await this.#first
    for (let next = await leg.next; next !== undefined; next = await leg.next) leg = next
    return leg.result
  }

  #leg({ turn }: StartedTurn): Leg {
    this.#turn = turn
    // Awaiting a run lets it flow without a reader.
    if (this.#isAwaited) turn.then().catch(() => {})
    const result = turn.settled().then(() => turn)
    const next = result.then((ended) => this.#turns.next(ended, this.#signal)).then((one) => one && this.#leg(one))
    next.catch(() => {})
    return { turn, result, next }
  }
}
