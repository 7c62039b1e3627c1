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
import type { Capabilities } from '../../ports/capability.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../../ports/register.ts'
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

/** Turn scope: from one input to one answer. */
export interface TurnContext<S = StateOf, Config = unknown, C = RegisteredContext, P = RegisteredPrincipal>
  extends SessionContext<S, Config, C, P>,
    StreamVerbs {
  /** The input of this turn. A layer may replace it before next(). */
  input: Message[]
  /** The answer's text; null until the turn has one. A layer that sets it and does not call next() answers the turn itself. */
  get output(): string | null
  set output(text: string)
  /** The messages that each model call starts from. A layer may replace them, for compaction. The history is not affected. */
  messages: Message[]
  /** The id of this run. */
  readonly turnId: string
  /**
   * The id of the turn's first run, the same across suspensions. In an inherited layer it is the id of the parent's
   * turn. Use it for counts per turn.
   */
  readonly rootTurnId: string
  /** Whether a sub-agent inherited the layer and this call belongs to the sub-agent. */
  readonly inherited: boolean
  /** Counts the turns of the session from 0. */
  readonly turnIndex: number
  /** Counts the steps of this turn from 0. */
  readonly stepIndex: number
  /** When the run started, in milliseconds since the epoch. For a run that is started again, when it first started. */
  readonly startedAt: number
  /**
   * Whether this part of the run is a replay: the run was cut off, and the journal returns the recorded steps. Layers
   * that log or count should skip it. An event at the very moment of the cut may be emitted in neither process, or in
   * both.
   */
  readonly replaying: boolean
  /** What the model calls of this turn start from, read-only. */
  readonly plan: TurnPlan
  /** The maximum number of steps of this turn. At the limit the turn stops with `max_steps`. */
  maxSteps: number
  /** Whether a retry may take back chunks that have reached the reader. */
  readonly onRetryAfterOutput: 'reset' | 'fail'
  /** Aborts when the run aborts, or when an outer layer narrowed it and its signal aborts. */
  readonly signal: AbortSignal
  /** The usage of the turn so far. */
  readonly usage: Readonly<Usage>
  /** Ends the run with an AbortError: cancels everything and unwinds every layer. */
  abort(reason?: unknown): never
  /** Blocks the run: unwinds every layer, and the result has the status `blocked`. `reply` becomes its text. */
  block(reason: string, options?: BlockOptions): never
  /** Ends the loop after this step. */
  stop(reason?: string): void
  /**
   * Stores data with the run. The record enters the store's outbox together with the run; a run that is not stored
   * leaves no record. Records of a sub-agent are stored with the run of its parent. Takes plain data, like `toJson`.
   */
  record(topic: string, data: unknown): void
  /**
   * Work that the run waits for before it completes. Its stream does not wait. A rejection goes to observers and the
   * logger.
   */
  defer(promise: PromiseLike<unknown>): void
  /**
   * Runs `fn` when the run has ended, for any reason, with its `turn:end`. The run waits for it before it settles.
   * Handlers of inner layers run first. An error goes to observers and the logger.
   */
  onEnd(fn: (end: RunEnd) => unknown): void
  /**
   * Inspects each incoming message before the layers inside see it: the turn's input at `next()`, messages of
   * `run.steer()`, and the input of sub-agents that inherit the layer. Return another message to replace it, null to
   * drop it, nothing to keep it. A `block()` during the inspection of a steered message rejects only that message, and
   * the turn continues. Call it before `next()`.
   */
  onInput(fn: OnInput): void
  /**
   * Maps the text that the run's own reader receives: text and reasoning of the stream, and the `text` of the result.
   * Layers, history, stores and observers keep the original. `make` is called once per text stream.
   */
  onDisplay(make: () => DisplayText): void
  /**
   * Resolves a model reference as this agent does, for a layer that calls a model itself.
   *
   * @throws AlliumError `model.unresolved`, `model.invalid`, `provider.*`
   */
  resolveModel(ref: ModelRef): Promise<Model>
  /**
   * Runs a side effect once per key in this turn. In a tool the key belongs to the call. After a failure the key may be
   * tried again. `per: 'attempt'` records a layer's finding or choice, so that a replay of the run returns the same
   * value. Results are plain data, as for `toJson`. `fn` gets options for running an agent of the layer:
   * `(inner) => judge.run(text, inner)`.
   */
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>): Promise<T>
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>, options: OnceOptions): T | Promise<T>
}

/** What the model calls of a turn start from. */
export interface TurnPlan {
  /**
   * The current input. Reading it does not block steering, unlike `ctx.input`. A layer that depends on the content must
   * use `ctx.onInput()`.
   */
  readonly input: readonly Message[]
  /** The id of the model. */
  readonly model: string
  readonly settings: Readonly<Settings>
  /** The agent's tools and the client's tools. */
  readonly tools: readonly ToolDef[]
  /** The tool that the model answers with, if the run's `output` uses one. */
  readonly answerTool: string | undefined
  /** The data flow that a tool of the agent declares. Undefined if it declares none, or if the agent does not have the tool. */
  flowOf(tool: string): ToolFlow<never> | undefined
  /** Whether the provider runs the tool. Layers do not see such calls. */
  runsAtProvider(tool: string): boolean
}

/** @throws AlliumError `layer.result` if a layer replaced the input with something other than a list of messages */
function checkInputOf(attempt: TurnAttempt, input: unknown): void {
  try {
    if (!Array.isArray(input))
      throw new AlliumError('message.invalid', `It is ${describe(input)}, and no list of messages.`)
    for (const [i, message] of input.entries()) checkMessage(message, `ctx.input[${i}]`)
  } catch (error) {
    throw layerError(attempt, 'layer.result', `set ctx.input to what is no input. ${messageOf(error)}`, error)
  }
}

/** The one attempt of a turn layer's next(), and the context of that layer. The core's attempt is the context of the loop. */
export class TurnAttempt extends SessionAttempt implements TurnContext {
  $history: ReadonlyHistory | undefined = undefined
  /** The layer is inspecting a steered message, so a block rejects only that message. */
  $inspectsSteered = false

  override get $session(): SessionScope {
    return this.$turn.session
  }
  get $turn(): Turn {
    return this.$call as Turn
  }
  /** The turn that the layer acts for. For an inherited layer, the parent's turn. */
  get $actingTurn(): Turn {
    return this.$hook?.levelsUp === undefined ? this.$turn : ((this.$owner.turn as Turn | undefined) ?? this.$turn)
  }
  get inherited(): boolean {
    return this.$hook?.levelsUp !== undefined
  }
  /** The turn that its state writes belong to. For an inherited layer, the turn that called the sub-agent. */
  get $homeTurn(): Turn {
    let turn = this.$turn
    for (let levelsUp = this.$hook?.levelsUp ?? 0; levelsUp > 0; levelsUp--) turn = turn.session.parent?.$turn ?? turn
    return turn
  }
  /**
   * For an inherited layer: where to log its effects for a replay. They are logged in every call between its owner and
   * this session.
   */
  get $effects(): { readonly session: SessionScope; readonly levelsUp: number } | undefined {
    const levelsUp = this.$hook?.levelsUp
    return levelsUp === undefined ? undefined : { session: this.$turn.session, levelsUp }
  }
  /** The layer's name, for messages. */
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
  get onRetryAfterOutput(): 'reset' | 'fail' {
    return this.$turn.options.onRetryAfterOutput
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
        'called ctx.onInput() too late. Call it in a turn hook, before next().',
      )
    this.$turn.inputs ??= []
    this.$turn.inputs.push({ fn, layer: this })
  }
  onDisplay(make: () => DisplayText): void {
    if (this.$isLate('onDisplay')) return
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
  /** Marks a turn layer that depends on the input, because a later message would bypass it. */
  $reads(): void {
    if (this.$call !== this.$turn || this.$inner !== undefined || this.$hook?.observesOnly !== false) return
    const { view } = this.$turn
    view.readers ??= new Set()
    view.readers.add(this)
  }
  protected onceKey(key: string): string {
    return key
  }
  /** The model or tool call within the turn that this attempt belongs to. */
  protected get onceScope(): string {
    return ''
  }

  /** Whether an action has no effect because the attempt failed or was abandoned. Reports it if so. */
  $isLate(verb: string): boolean {
    if (!isLate(this)) return false
    this.$call.late(this, verb)
    return true
  }
  /** Whether a change has no effect. This is also the case after the layer has returned, which is not reported. */
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
