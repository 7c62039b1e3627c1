import { AlliumError } from '../../errors/allium-error.ts'
import { BlockError, type BlockOptions } from '../../errors/block-error.ts'
import { describe, messageOf } from '../../errors/describe.ts'
import { checkOptions } from '../../errors/known-options.ts'
import type { CustomEvent } from '../../events/events.ts'
import { checkMessage } from '../../messages/check-messages.ts'
import type { ReadonlyHistory } from '../../messages/history.ts'
import type { Message } from '../../messages/message.ts'
import type { Usage } from '../../messages/usage.ts'
import { type Model, type ModelRef, modelId, type Settings, type ToolDef } from '../../model/model.ts'
import { isLate, State } from '../../onion/attempt.ts'
import { abandonedError, layerError, nameOf } from '../../onion/misuse.ts'
import type { Capabilities } from '../../seams/capability.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../../seams/register.ts'
import type { State as StateOf, StateWrite } from '../../state/state-store.ts'
import type { OnChunk, Pipe } from '../../stream/transforms.ts'
import type { ToolFlow } from '../../tool/flow.ts'
import { isRunByProvider } from '../../tool/tool-guard.ts'
import { checkEvent, SessionAttempt, type SessionContext } from '../session/context.ts'
import { resolveModel } from '../session/resolve-model.ts'
import type { SessionScope } from '../session/session-scope.ts'
import { Display, type DisplayText } from './display.ts'
import { logRecord, logWrite } from './effect-log.ts'
import type { RunEnd } from './finalizers.ts'
import type { OnInput } from './inputs.ts'
import { type InnerRun, type OnceOptions, ofOnce } from './once.ts'
import { type StreamVerbs, transformsOf } from './stream-verbs.ts'
import type { Turn } from './turn.ts'

/** Turn scope: one input to one answer. */
export interface TurnContext<S = StateOf, Config = unknown, C = RegisteredContext, P = RegisteredPrincipal>
  extends SessionContext<S, Config, C, P>,
    StreamVerbs {
  /** The input of this turn; a guard may replace it before next(). */
  input: Message[]
  /** The answer's text; null until the turn has one. Setting it before next() and not calling next() answers the turn. */
  get output(): string | null
  set output(text: string)
  /** The working view that each model call starts from; replaceable, for compaction. The history stays whole. */
  messages: Message[]
  /** The id of this run. */
  readonly turnId: string
  /** The id of the turn's first run, over suspensions; for a layer that a sub-agent inherited, of its parent's turn. What counts per turn counts by it. */
  readonly rootTurnId: string
  /** Whether a sub-agent inherited the layer, and this is a call of that one. */
  readonly inherited: boolean
  /** Counts the turns of the session from 0. */
  readonly turnIndex: number
  /** Counts the steps of this turn from 0. */
  readonly stepIndex: number
  /** Milliseconds since the epoch; of a run that is started again, when it first began. */
  readonly startedAt: number
  /**
   * Whether what is told now was told before: the run had been cut off, and its journal gives what it has recorded. Who logs or counts
   * leaves it out. What happened at the very instant of the cut may be told in neither life, or in both.
   */
  readonly replaying: boolean
  /** What the model calls of this turn start from, to read. */
  readonly plan: TurnPlan
  /** The steps that this turn may have; then it is stopped with `max_steps`. */
  maxSteps: number
  /** Whether chunks that have reached the reader may be taken back by another attempt. */
  readonly resets: 'allow' | 'refuse'
  /** Aborts when the run does, or when a layer outside narrowed it. */
  readonly signal: AbortSignal
  /** What the turn has used so far. */
  readonly usage: Readonly<Usage>
  /** Ends the run with an AbortError: everything is cancelled, every layer unwinds. */
  abort(reason?: unknown): never
  /** Trips a guardrail: unwinds, and is the status of the result. `reply` becomes its text. */
  block(reason: string, options?: BlockOptions): never
  /** Ends the loop after this step. */
  stop(reason?: string): void
  /**
   * Keeps data with the run: they are in the store's outbox once the run is stored, and not before; a run that is not stored
   * leaves none. A sub-agent's go with the run of the agent above. Plain data, as `toJson` takes them.
   */
  record(topic: string, data: unknown): void
  /** Work that the run's completion awaits, but not its stream. A rejection goes to observers and the logger. */
  defer(promise: PromiseLike<unknown>): void
  /**
   * Runs `fn` when the run has ended, whichever way, with its `turn:end`. It is awaited before the run settles; those of
   * inner layers run first. What it throws goes to observers and the logger.
   */
  onEnd(fn: (end: RunEnd) => unknown): void
  /**
   * Sees each message that comes in, before anybody inside does: those of the turn's input at `next()`, those that come
   * with `run.steer()` while it runs, and those that are given to sub-agents which inherit the layer. Gives another in its
   * place, null to leave it out, nothing for it as it is. A `block()` while it looks at a steered message gives that one
   * back, and the turn goes on. To be called before `next()`.
   */
  onInput(fn: OnInput): void
  /**
   * Maps the text that the run's own reader gets: text and thoughts of its stream, and the `text` of its result. Layers,
   * history, stores and observers keep theirs. `make` is called for each text that comes in pieces.
   */
  onShow(make: () => DisplayText): void
  /**
   * The model of a reference, as this agent finds it: for a layer that asks a model of its own.
   *
   * @throws AlliumError `model.unresolved`, `model.invalid`, `provider.*`
   */
  resolveModel(ref: ModelRef): Promise<Model>
  /**
   * Runs a side effect once per key in this turn; in a tool the key is the call's own. A failure may be tried again. With
   * `per: 'attempt'` it keeps what a layer finds or chooses for a replay of the run. Results are plain data, as `toJson` takes them. `fn` gets options for a run of an agent of the layer's own:
   * `(inner) => judge.run(text, inner)`.
   */
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>): Promise<T>
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>, options: OnceOptions): T | Promise<T>
}

/** What the model calls of a turn start from. */
export interface TurnPlan {
  /** The input as it stands, to look at: a layer that goes by what is said looks with `ctx.onInput()`. */
  readonly input: readonly Message[]
  /** The id of the model. */
  readonly model: string
  readonly settings: Readonly<Settings>
  /** The agent's tools, and those that the client runs. */
  readonly tools: readonly ToolDef[]
  /** The tool that the model answers with, where the run's `output` is got that way. */
  readonly answerTool: string | undefined
  /** What a tool of the agent says that it brings in and lets out; undefined where it says nothing, and for one that there is not. */
  flowOf(tool: string): ToolFlow<never> | undefined
  /** Whether the provider runs it itself: no layer sees its calls. */
  runsAtProvider(tool: string): boolean
}

/** @throws AlliumError `layer.result` unless a layer put messages in the place of the input */
function checkInputOf(attempt: TurnAttempt, input: unknown): void {
  try {
    if (!Array.isArray(input))
      throw new AlliumError('message.invalid', `It is ${describe(input)}, and no list of messages.`)
    for (const [i, message] of input.entries()) checkMessage(message, `ctx.input[${i}]`)
  } catch (error) {
    throw layerError(attempt, 'layer.result', `set ctx.input to what is no input. ${messageOf(error)}`, error)
  }
}

/** The one attempt of a turn layer's next(), and the context of the layer that stands in it; the core's is that of the loop. */
export class TurnAttempt extends SessionAttempt implements TurnContext {
  $history: ReadonlyHistory | undefined = undefined
  /** It looks at a message that came while the turn ran: a block is that message's. */
  $inspectsSteered = false

  override get $session(): SessionScope {
    return this.$turn.session
  }
  get $turn(): Turn {
    return this.$call as Turn
  }
  /** The turn that the layer acts for: for one that a sub-agent inherited, its parent's. */
  get $actingTurn(): Turn {
    return this.$hook?.levelsUp === undefined ? this.$turn : ((this.$owner.turn as Turn | undefined) ?? this.$turn)
  }
  get inherited(): boolean {
    return this.$hook?.levelsUp !== undefined
  }
  /** The turn whose end its writes to the state are for: of one that a sub-agent inherited, that in which the sub-agent was called. */
  get $homeTurn(): Turn {
    let turn = this.$turn
    for (let levelsUp = this.$hook?.levelsUp ?? 0; levelsUp > 0; levelsUp--) turn = turn.session.parent?.$turn ?? turn
    return turn
  }
  /** Inside of which agents' calls what it does is noted, for a replay: those of a layer that a sub-agent inherited. */
  get $effects(): { readonly session: SessionScope; readonly levelsUp: number } | undefined {
    const levelsUp = this.$hook?.levelsUp
    return levelsUp === undefined ? undefined : { session: this.$turn.session, levelsUp }
  }
  /** The name of what stands here, for messages. */
  get $name(): string {
    return nameOf(this)
  }

  override get context(): RegisteredContext {
    return this.$turn.options.context as RegisteredContext
  }
  override get history(): ReadonlyHistory {
    this.$history ??= this.$session.history.viewFor(() => !this.$isLate('history'))
    return this.$history
  }
  override get metadata(): Record<string, unknown> {
    return this.$turn.metadata
  }
  get input(): Message[] {
    this.$reads()
    return this.$turn.view.input
  }
  set input(input: Message[]) {
    this.$reads()
    checkInputOf(this, input)
    if (!this.$isMute('input')) this.$turn.view.setInput(input)
  }
  get output(): string | null {
    return this.$turn.answer.output
  }
  set output(text: string) {
    if (!this.$isMute('output')) this.$turn.answer.set(this, text)
  }
  get messages(): Message[] {
    return this.$turn.view.messages
  }
  set messages(messages: Message[]) {
    if (!this.$isMute('messages')) this.$turn.view.messages = messages
  }
  get turnId(): string {
    return this.$turn.turnId
  }
  get rootTurnId(): string {
    return this.$actingTurn.rootId
  }
  get turnIndex(): number {
    return this.$turn.turnIndex
  }
  get stepIndex(): number {
    return this.$turn.stepIndex
  }
  get startedAt(): number {
    return this.$turn.startedAt
  }
  get replaying(): boolean {
    return this.$turn.steps?.isReplaying(this.$call) ?? false
  }
  get plan(): TurnPlan {
    const { view, options } = this.$turn
    const { model, settings, format, tools } = options
    const flowOf = (tool: string) => tools.flowOf(tool)
    const runsAtProvider = (tool: string) => isRunByProvider(tools.get(tool)?.tool)
    const answerTool = format?.tool?.name
    return { input: view.input, model: modelId(model), settings, tools: tools.defs, answerTool, flowOf, runsAtProvider }
  }
  get maxSteps(): number {
    return this.$turn.maxSteps
  }
  set maxSteps(steps: number) {
    if (!this.$isMute('maxSteps')) this.$turn.maxSteps = steps
  }
  get resets(): 'allow' | 'refuse' {
    return this.$turn.options.resets
  }
  get signal(): AbortSignal {
    return this.$cancel.signal
  }
  get usage(): Usage {
    return { ...this.$turn.usage }
  }
  abort(reason?: unknown): never {
    if (this.$isLate('abort')) throw abandonedError(this)
    return this.$actingTurn.lifecycle.abort(reason)
  }
  block(reason: string, options: BlockOptions = {}): never {
    if (this.$isLate('block')) throw abandonedError(this)
    if (this.$inspectsSteered) throw new BlockError(reason, options)
    return this.$actingTurn.lifecycle.block(reason, options)
  }
  stop(reason = 'stopped'): void {
    if (!this.$isLate('stop')) this.$actingTurn.stop(reason)
  }
  override emit(event: CustomEvent): void {
    checkEvent(this, event)
    this.$turn.emit(event, isLate(this))
  }
  record(topic: string, data: unknown): void {
    if (this.$isLate('record')) return
    const record = this.$actingTurn.record(topic, data)
    const { $effects } = this
    if ($effects !== undefined) logRecord($effects.session, $effects.levelsUp, record)
  }
  defer(promise: PromiseLike<unknown>): void {
    this.$turn.finalizers.defer(promise, this.$name)
  }
  onInput(fn: OnInput): void {
    if (this.$isLate('onInput')) return
    if (this.$call !== this.$turn || this.$inner !== undefined || this.$hook === undefined)
      throw layerError(
        this,
        'layer.late_transform',
        'called ctx.onInput() too late: the input is in already. Call it in a turn hook, before next().',
      )
    this.$turn.inputs ??= []
    this.$turn.inputs.push({ fn, layer: this })
  }
  onShow(make: () => DisplayText): void {
    if (this.$isLate('onShow')) return
    this.$turn.display ??= new Display(this.$turn.events)
    this.$turn.display.add(make)
  }
  onEnd(fn: (end: RunEnd) => unknown): void {
    this.$turn.finalizers.onEnd(fn, this.$name)
  }
  resolveModel(ref: ModelRef): Promise<Model> {
    return resolveModel(this.$session, ref)
  }
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>): Promise<T>
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>, options: OnceOptions): T | Promise<T>
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>, options?: OnceOptions): T | Promise<T> {
    checkOptions(options, ofOnce, 'once()', 'layer.invalid')
    if (options?.per !== 'attempt') return this.$turn.once(this.onceKey(key), fn)
    return this.$turn.onces.inAttempt(`${this.onceScope}${this.$index}:${this.$number}:${this.$name}:${key}`, fn)
  }
  onChunk(fn: OnChunk): void {
    transformsOf(this, 'onChunk').steps.push({ map: fn })
  }
  pipe(fn: Pipe): void {
    transformsOf(this, 'pipe').steps.push({ pipe: fn })
  }
  hold(): void {
    transformsOf(this, 'hold').hold = true
  }
  override get $capabilities(): Capabilities {
    const levelsUp = this.$hook?.levelsUp
    return levelsUp === undefined ? this.$turn.capabilities : this.$actingTurn.capabilities
  }
  /** Notes a turn layer that goes by the input: a message that comes later would pass it by. */
  $reads(): void {
    if (this.$call !== this.$turn || this.$inner !== undefined || this.$hook?.observesOnly !== false) return
    const { view } = this.$turn
    view.readers ??= new Set()
    view.readers.add(this)
  }
  protected onceKey(key: string): string {
    return key
  }
  /** The call that it is an attempt of, among those of the turn. */
  protected get onceScope(): string {
    return ''
  }

  /** Whether what is tried has no effect, because the attempt has failed or was left; then that is told. */
  $isLate(verb: string): boolean {
    if (!isLate(this)) return false
    this.$call.late(this, verb)
    return true
  }
  /** Whether a change has no effect: also where the layer has returned, which is not told. */
  $isMute(verb: string): boolean {
    if (this.$state === State.running && !this.$timedOut) return false
    return this.$isLate(verb) || this.$state !== State.running
  }
  override $wrote(key: string, value: unknown): void {
    const { $effects } = this
    if ($effects !== undefined) logWrite($effects.session, $effects.levelsUp, key, value)
  }
  override $writes(key: string): StateWrite {
    if (this.$homeTurn.hasEnded) return 'dropped'
    if (!isLate(this)) return 'taken'
    if (this.$owner.agent.fields.get(key)?.reducer !== undefined) return 'late'
    this.$call.late(this, 'state')
    return 'dropped'
  }
}
