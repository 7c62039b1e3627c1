import { AbortError, toAbortError } from '../../errors/abort-error.ts'
import { BlockError } from '../../errors/block-error.ts'
import { messageOf } from '../../errors/describe.ts'
import type { CoreEvents, CustomEvent, StreamEvent } from '../../events/events.ts'
import { copyMessage } from '../../messages/copy-message.ts'
import { answerCalls } from '../../messages/history.ts'
import { cloneJson } from '../../messages/json.ts'
import type { Message, ToolResultPart } from '../../messages/message.ts'
import { addUsage, noUsage, type Usage } from '../../messages/usage.ts'
import { Cancel } from '../../onion/cancel.ts'
import { type Ending, Passage } from '../../onion/hook.ts'
import { layerError } from '../../onion/misuse.ts'
import { type Frame, Phase } from '../../onion/next.ts'
import { Capabilities } from '../../seams/capability.ts'
import type { Deadlines } from '../../seams/deadlines.ts'
import type { SessionScope } from '../session/session-scope.ts'
import type { ToolCall as RunningCall } from '../tool/tool-call.ts'
import { Answer } from './answer.ts'
import { TurnView } from './context.ts'
import { Once } from './once.ts'
import type { RunEnds } from './run-ends.ts'
import { openStage, streamOf } from './stream-verbs.ts'
import type { EndKind, RunEvents, ToolCallRecord, TurnOptions } from './turn-options.ts'

/** One input to one answer: what the turn's layers, calls and tools share. */
export class TurnScope extends Passage {
  readonly turnId: string
  readonly turnIndex: number
  readonly startedAt: number
  readonly usage: Usage = noUsage()
  readonly events: RunEvents
  readonly answer: Answer
  /** The first run of the turn, where it was resumed. */
  readonly rootId: string
  input: Message[]
  maxSteps: number
  readonly toolCalls: ToolCallRecord[] = []
  stepIndex: number
  callIndex = 0
  stopReason: string | undefined
  /** Calls that wait for a human, of those that this run has made. */
  waiting: RunningCall[] | undefined
  /** The loop has ended because calls wait for a human. */
  waits = false
  deferred: Promise<unknown>[] | undefined
  /** What layers do once the run has ended. */
  ends: RunEnds | undefined
  /** How the run ended has been told: nothing changes it. */
  told = false
  /** Puts the results of the running tools into the history, while some run. */
  closeStep: (() => void) | undefined
  /** The timeouts of its tools, once one has been set. */
  deadlines: Deadlines | undefined
  /** How the run ends before its time, if it does; the first abort or block stays. */
  end: (Ending & { kind: EndKind }) | undefined
  /** Where the loop and its calls are cancelled. */
  inside: Cancel
  readonly #root: Cancel
  #sealed = false
  #messages: Message[] | undefined
  #metadata: Record<string, unknown> | undefined
  #capabilities: Capabilities | undefined
  #once: Once | undefined

  constructor(
    readonly session: SessionScope,
    readonly options: TurnOptions,
  ) {
    super('turn', options.onion.turn, new Cancel())
    this.#root = this.cancel
    this.inside = this.cancel
    this.turnIndex = session.turnCount
    this.turnId = session.nextTurnId()
    this.startedAt = session.agent.setup.clock.now()
    this.input = options.input
    this.maxSteps = options.maxSteps
    this.events = options.events
    this.answer = new Answer(this)
    const suspension = options.resume?.suspension
    this.rootId = suspension?.rootId ?? this.turnId
    this.stepIndex = suspension?.stepIndex ?? 0
    this.stopReason = suspension?.stopReason
  }

  get metadata(): Record<string, unknown> {
    this.#metadata ??= {}
    return this.#metadata
  }
  get capabilities(): Capabilities {
    this.#capabilities ??= new Capabilities(this.session.capabilities)
    return this.#capabilities
  }

  /** Where in the run an event happened. */
  get place(): { sessionId: string; turnId: string; stepIndex: number } {
    return { sessionId: this.session.id, turnId: this.turnId, stepIndex: this.stepIndex }
  }

  tellStep(type: 'step:start' | 'step:end'): void {
    this.send({ type, sessionId: this.session.id, turnId: this.turnId, stepIndex: this.stepIndex })
  }

  /** Into the run's stream, and a copy to observers. */
  send(event: StreamEvent | CustomEvent): void {
    void this.events.push(event)
    const { observers } = this.session.agent
    if (observers.has(event.type)) observers.emit(event.type, { ...event })
  }

  /** What each model call starts from. It is a copy once somebody looks at it. */
  get messages(): Message[] {
    this.#messages ??= this.session.history.items.map(copyMessage).concat(this.answer.begun ? [] : this.input)
    return this.#messages
  }
  set messages(messages: Message[]) {
    this.#messages = messages
  }
  /** The same to read: the history itself where nobody has looked. */
  get working(): readonly Message[] {
    return this.#messages ?? this.session.history.items
  }
  setInput(input: Message[]): void {
    if (this.#messages !== undefined && !this.answer.begun)
      this.#messages = [...this.#messages.filter((message) => !this.input.includes(message)), ...input]
    this.input = input
  }

  /** Adds a message to the history and to what the next model call starts from. */
  commit(message: Message): void {
    if (this.#sealed) return
    this.session.history.append(message)
    this.#messages?.push(copyMessage(message))
  }

  /** Adds results to the history and to what the next model call starts from. */
  commitResults(results: ToolResultPart[]): void {
    if (this.#sealed) return
    this.session.history.answer(results)
    if (this.#messages !== undefined) answerCalls(this.#messages, cloneJson(results))
  }

  /** Closes the loop's part of the history: calls without a result were cancelled, and what still runs adds nothing. */
  seal(): void {
    this.closeStep?.()
    this.#sealed = true
  }

  /** Counts a physical call, here and in the turn of the agent above. */
  countCall(): void {
    this.usage.calls++
    this.session.parent?.turn.countCall()
  }
  /** Adds the tokens of a physical call; the call itself was counted when it began. */
  count(usage: Usage): void {
    addUsage(this.usage, usage)
    this.usage.calls -= usage.calls
    this.session.parent?.turn.count(usage)
  }

  /** Work to await before the run settles; its rejection is told, not thrown. */
  defer(promise: PromiseLike<unknown>, layer: string): void {
    this.deferred ??= []
    this.deferred.push(
      Promise.resolve(promise).catch((error) => this.#report('defer', `Work deferred by the layer "${layer}"`, error)),
    )
  }

  /** Runs what layers do at the end; what fails is told, not thrown. */
  runEnds(end: CoreEvents['turn:end']): Promise<void> | undefined {
    return this.ends?.run(end, (layer, error) => this.#report('onEnd', `onEnd() of the layer "${layer}"`, error))
  }

  #report(event: string, what: string, error: unknown): void {
    const { observers, setup } = this.session.agent
    observers.emit('observer:error', { type: 'observer:error', event, error })
    setup.logger.error(`${what} failed: ${messageOf(error)}`, { error })
  }

  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    this.#once ??= new Once(this)
    return this.#once.run(key, fn)
  }

  abort(reason: unknown): never {
    const error = toAbortError(reason)
    this.cut('aborted', error)
    throw this.end?.error ?? error
  }
  block(reason: string, reply: string | undefined): never {
    const error = new BlockError(reason, reply)
    this.cut('blocked', error)
    throw this.end?.error ?? error
  }
  fail(error: unknown): void {
    this.cut('failed', error)
  }
  /** Ends the run: everything inside is cancelled, every layer unwinds. */
  cut(kind: EndKind, error: unknown): void {
    if (this.told || (this.end !== undefined && (this.end.kind !== 'failed' || kind === 'failed'))) return
    this.end = { kind, error }
    this.#root.abort(
      kind === 'aborted'
        ? error
        : new AbortError(kind === 'blocked' ? (error as BlockError).message : 'the run failed'),
    )
  }

  override ending(): Ending | undefined {
    return this.end
  }
  view(frame: Frame): object {
    return new TurnView(frame)
  }
  core(): Promise<void> {
    if (this.hooks.length > 0) this.inside = this.cancel.narrow()
    return this.options.loop(this)
  }
  override entering(frame: Frame): void {
    const { answer } = this
    answer.sink = openStage(frame, answer.sink, false)
    if (streamOf(frame)?.transforms.hold === true) answer.outlet.hold(frame.index)
  }
  override arrived(frame: Frame, value: unknown): unknown {
    const stage = streamOf(frame)?.stage
    return stage === undefined ? value : this.answer.leave(stage)
  }
  override missed(frame: Frame): void {
    const stage = streamOf(frame)?.stage
    stage?.kill()
    if (stage !== undefined) this.answer.sink = stage.out
    this.answer.outlet.drop(frame.index)
  }
  override close(): void {
    this.inside.abort(new AbortError('a layer left the turn'))
  }
  leaving(frame: Frame): unknown {
    if (frame.phase === Phase.done) return this.answer.release(frame)
    if (this.answer.pending) return this.answer.give(frame)
    if (frame.phase === Phase.idle)
      throw layerError(
        frame,
        'layer.no_next',
        'returned without next() and without an answer. Write "await next()", or set ctx.output to answer the turn itself.',
      )
    const what = 'swallowed the error of next() without an answer. Throw it again, or set ctx.output.'
    throw layerError(frame, 'layer.no_result', what, frame.error)
  }
}
