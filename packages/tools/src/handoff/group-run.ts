import type { AgentRun, LayerEvent, RunResult, StreamEvent } from '@allium/core'
import { AlliumError } from '@allium/core'
import { usageOf } from '@allium/core/internal'

export type Turn = AgentRun<unknown>
type Result = RunResult<unknown>
type Event = StreamEvent | LayerEvent

/** A turn that has started, in an object because a run can be awaited. */
export interface StartedTurn {
  readonly turn: Turn
}

/** The turns of a run. */
interface Turns {
  /** Whether the caller starts the turn after a handoff, by a run of its own. */
  readonly isSingle: boolean
  /** Starts the first turn. */
  begin(signal: AbortSignal): Promise<StartedTurn>
  /** Starts the turn after a handoff. Returns undefined if the turn before did not hand off. */
  next(result: Result, signal: AbortSignal): Promise<StartedTurn | undefined>
  /** Starts the first turn on another agent after it was rejected. Returns undefined if the rejection is final. */
  otherwise(error: unknown, signal: AbortSignal): Promise<StartedTurn | undefined>
  /** Returns whether the events of a turn were read before, and notes that they are read now. */
  isRead(turn: Turn): boolean
}

interface Leg extends StartedTurn {
  /** The turns before it. */
  readonly earlier: readonly Pick<Result, 'usage'>[]
  readonly result: Promise<Result>
  readonly next: Promise<Leg | undefined>
}

/**
 * The turns that answer one input: one, and a further one after each handoff. It has the members of `AgentRun`. Its result is that of the last
 * turn, and its events are those of all turns.
 */
export class GroupRun implements PromiseLike<Result>, AsyncIterable<Event> {
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

  get partial(): Turn['partial'] {
    return this.#turn?.partial ?? { text: '', usage: { inputTokens: 0, outputTokens: 0, calls: 0 }, messages: [] }
  }

  /** Cancels the current turn. No further turn starts. */
  abort(reason?: unknown): void {
    this.#abort.abort(reason)
  }

  async steer(...given: Parameters<Turn['steer']>): ReturnType<Turn['steer']> {
    const { turn } = await this.#first
    return (this.#turn ?? turn).steer(...given)
  }

  async settled(): Promise<void> {
    await this.#last().catch(() => {})
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
  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Result | B> {
    return this.then(undefined, onError)
  }
  finally(onSettled?: (() => void) | null): Promise<Result> {
    return this.then().finally(onSettled)
  }

  /** Yields the events of all turns as those of one: with one `turn:start` and one `turn:end`. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Event, undefined> {
    for (let leg: Leg | undefined = await this.#first; leg !== undefined; leg = await leg.next)
      try {
        yield* this.#eventsOf(leg)
      } catch (error) {
        if (!(await goesOn(leg))) throw error
      }
    return undefined
  }

  async *#eventsOf(leg: Leg): AsyncGenerator<Event, void> {
    const events = this.#turns.isRead(leg.turn) ? storedEvents(await leg.result) : leg.turn
    for await (const event of events) {
      const isOwn = !('path' in event)
      if (isOwn && event.type === 'turn:start' && leg.earlier.length > 0) continue
      if (!isOwn || event.type !== 'turn:end') yield event
      // Durable runs record no step after this event, so it must come while the layers still unwind.
      else if (this.#turns.isSingle || !(await goesOn(leg))) yield { ...event, usage: usageOf([...leg.earlier, event]) }
    }
  }

  get textStream(): AsyncIterable<string> {
    return textOf(this)
  }

  async #last(): Promise<Result> {
    let leg = await this.#first
    for (let next = await leg.next; next !== undefined; next = await leg.next) leg = next
    return withUsage(await leg.result, leg.earlier)
  }

  #leg({ turn }: StartedTurn, earlier: Leg['earlier'] = []): Leg {
    this.#turn = turn
    // Awaiting a run lets it flow without a reader.
    if (this.#isAwaited) turn.then().catch(() => {})
    const result = turn.settled().then(() => turn)
    const started = result.then(
      (ended) => this.#turns.next(ended, this.#signal),
      async (error) => {
        const other = await this.#turns.otherwise(error, this.#signal)
        if (other === undefined) throw error
        return other
      },
    )
    const until = result.then(({ usage }) => [...earlier, { usage }]).catch(() => earlier)
    const next = started.then(async (one) => one && this.#leg(one, await until))
    next.catch(() => {})
    return { turn, earlier, result, next }
  }
}

/** Returns whether another turn follows. */
function goesOn({ next }: Leg): Promise<boolean> {
  return next.then(
    (leg) => leg !== undefined,
    () => false,
  )
}

/** Returns the result with the usage of all turns. */
function withUsage(result: Result, earlier: Leg['earlier']): Result {
  if (earlier.length === 0) return result
  const usage = { value: usageOf([...earlier, result]), enumerable: true, writable: true, configurable: true }
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(result), usage }) as Result
}

/** Returns the events of a turn that a repeated request found: its answer at once, and its end. */
function storedEvents({ text, sessionId, turnId, status, reason, usage, pending }: Result): Event[] {
  const end: Event = {
    type: 'turn:end',
    ...{ sessionId, turnId, turnIndex: 0, status, usage },
    ...(reason !== undefined && { reason }),
    ...(status === 'suspended' && { pending }),
  }
  return text === '' ? [end] : [{ type: 'text-delta', delta: text }, end]
}

async function* textOf(run: AsyncIterable<Event>): AsyncGenerator<string> {
  let isShown = false
  for await (const event of run) {
    if ('path' in event) continue
    if (event.type === 'text-delta') {
      isShown = true
      yield event.delta
    } else if (event.type === 'step:start') isShown = false
    else if (event.type === 'model:reset' && isShown)
      throw new AlliumError('stream.reset', "A new attempt takes back text that was streamed. Read the run's events.")
  }
}
