import { AlliumError } from '../errors/allium-error.ts'
import type { LayerEvent, StreamEvent } from '../events/events.ts'
import type { Partial } from '../loop/partial.ts'
import type { RunResult } from '../loop/run-result.ts'
import type { Steered } from '../rings/turn/steering.ts'
import type { State } from '../state/state-store.ts'
import type { CallTypes } from '../tool/typed-calls.ts'
import type { LiveRun } from './live-run.ts'
import { checkSteerOptions, type SteerInput, type SteerOptions, toSteered } from './steer-input.ts'

/**
 * A run that has started: await it for its result, or iterate it for its events, or both.
 * Leaving the iteration aborts the run. A run that fails and that nobody awaits never ends the process.
 */
export class AgentRun<S = State, O = string, K extends CallTypes = CallTypes>
  implements PromiseLike<RunResult<S, O, K>>, AsyncIterable<StreamEvent<K> | LayerEvent>
{
  readonly #run: LiveRun
  #read = false

  constructor(run: LiveRun) {
    this.#run = run
  }

  /** Text, usage and messages so far. */
  get partial(): Partial {
    return this.#run.partial
  }

  /** Cancels the provider call and the running tools; the run rejects with an AbortError, the partial answer is kept. */
  abort(reason?: unknown): void {
    this.#run.abort(reason)
  }

  /**
   * Puts a message of the user's into the turn that runs: before its next step, behind the tools that run now. It passes every
   * guard that an input passes. A model that was about to end its turn is asked once more, within `maxSteps`.
   *
   * @param message a text, parts of a user's message, or such a message
   * @param options.id what `steer:heard` or `steer:returned` in the stream names it by @default an id of its own
   * @returns whether it was heard; if not it is given back with the reason, and never becomes a later input by itself
   * @throws AlliumError `run.not_running` once the run has ended; `run.options` for what is no message of a user;
   * `steer.unguarded` where a layer goes by the input and would not see it; what a guard threw that looked at it
   */
  async steer(message: SteerInput, options: SteerOptions = {}): Promise<Steered> {
    const { id } = checkSteerOptions(options)
    const steered = toSteered(message)
    return new Promise((settle, fail) => this.#run.steer({ id, message: steered, settle, fail }))
  }

  /** Resolves when the run has ended, whichever way; unlike awaiting the run it does not hurry a slow reader. */
  async settled(): Promise<void> {
    await this.#run.result?.catch(() => {})
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting the run is its plain use
  then<A = RunResult<S, O, K>, B = never>(
    onResult?: ((result: RunResult<S, O, K>) => A | PromiseLike<A>) | null,
    onError?: OnError<B> | null,
  ): Promise<A | B> {
    this.#run.isObserved = true
    this.#run.events.flow()
    return (this.#run.result as Promise<RunResult<S, O, K>>).then(onResult, onError)
  }
  catch<B = never>(onError?: OnError<B> | null): Promise<RunResult<S, O, K> | B> {
    return this.then(undefined, onError)
  }
  finally(onSettled?: (() => void) | null): Promise<RunResult<S, O, K>> {
    return this.then().finally(onSettled)
  }

  /** Every event, once. @throws AlliumError `stream.second_reader` for a second iterator */
  [Symbol.asyncIterator](): AsyncIterator<StreamEvent<K> | LayerEvent, undefined> {
    if (this.#read)
      throw new AlliumError(
        'stream.second_reader',
        'This run already has a reader, and its events arrive once. Read them in one loop, or use agent.on().',
      )
    this.#read = this.#run.isObserved = true
    const { events } = this.#run
    return {
      next: () => events.next() as Promise<IteratorResult<StreamEvent<K> | LayerEvent, undefined>>,
      return: async () => {
        this.#run.abort('the reader left the stream')
        events.close()
        return { value: undefined, done: true }
      },
    }
  }

  /** The text alone, as it comes. Ends with AlliumError `stream.reset` where a new attempt takes text back: read events there. */
  get textStream(): AsyncIterable<string> {
    return textOf(this)
  }
}

/** What takes an error; written so that `(error: Error) => …` is taken too, as a Promise does. */
type OnError<B> = { take(error: unknown): B | PromiseLike<B> }['take']

async function* textOf(run: AsyncIterable<StreamEvent | LayerEvent>): AsyncGenerator<string> {
  let shown = false
  for await (const event of run) {
    if ('path' in event) continue
    if (event.type === 'text-delta') {
      shown = true
      yield event.delta
    } else if (event.type === 'step:start') shown = false
    else if (event.type === 'model:reset' && shown)
      throw new AlliumError(
        'stream.reset',
        "A new attempt of the model call takes back text that was streamed. Read the run's events, which tell with \"model:reset\", or set model.retry({ midStream: 'fail' }).",
      )
  }
}
