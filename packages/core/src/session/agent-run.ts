import { AlliumError } from '../errors/allium-error.ts'
import type { LayerEvent, StreamEvent } from '../events/events.ts'
import type { State } from '../state/state-store.ts'
import type { CallTypes } from '../tool/call-record.ts'
import type { Steered } from '../turn/inputs.ts'
import type { Partial, RunResult } from '../turn/run-result.ts'
import type { LiveRun } from './live-run.ts'
import { checkSteerOptions, type SteerInput, type SteerOptions, toSteered } from './steer-input.ts'

/**
 * A run that has started. Await it for its result, iterate it for its events, or both.
 * Leaving the iteration aborts the run. A failed run that is not awaited does not end the process.
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

  /** Cancels the provider call and the running tools. The run rejects with an AbortError, and the partial answer is kept. */
  abort(reason?: unknown): void {
    this.#run.abort(reason)
  }

  /**
   * Adds a user message to the running turn, before its next step and after the tools that are running. It passes every
   * input guard. If the model was about to end its turn, it is called once more, within `maxSteps`.
   *
   * @param message a text, parts of a user message, or a user message
   * @param options.id the id in the `steer:delivered` or `steer:rejected` event @default a new id
   * @returns whether the message was delivered; otherwise the reason. A rejected message is never delivered later.
   * @throws AlliumError `run.not_running` after the run has ended; `run.options` if it is not a user message;
   * `steer.unguarded` if a layer depends on the input and would not see it; and the error of a guard that inspected it
   */
  async steer(message: SteerInput, options: SteerOptions = {}): Promise<Steered> {
    const { id } = checkSteerOptions(options)
    const steered = toSteered(message)
    return new Promise((settle, fail) => this.#run.steer({ id, message: steered, settle, fail }))
  }

  /** Resolves when the run has ended, for any reason. Unlike awaiting the run, it leaves backpressure on for a slow reader. */
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

  /** Yields every event once. @throws AlliumError `stream.second_reader` for a second iterator */
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

  /**
   * Yields only the text, as it arrives. Throws AlliumError `stream.reset` when a retry takes text back. To handle
   * that, read the events.
   */
  get textStream(): AsyncIterable<string> {
    return textOf(this)
  }
}

/** A rejection handler. Written as a method so that `(error: Error) => …` is accepted too, as a Promise does. */
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
        "A new attempt takes back text that was streamed. Read the run's events (\"model:reset\"), or set model.retry({ afterOutput: 'fail' }).",
      )
  }
}
