import type { InnerRun, OnceOptions, OnInput, TurnContext, TurnPlan, TurnView } from '../../contexts/turn.ts'
import { AlliumError } from '../../errors/allium-error.ts'
import { BlockError, type BlockOptions } from '../../errors/block-error.ts'
import { describe, messageOf } from '../../errors/describe.ts'
import { checkOptions } from '../../errors/known-options.ts'
import type { CustomEvent, RunEnd } from '../../events/events.ts'
import { checkMessage } from '../../messages/check-messages.ts'
import type { ReadonlyHistory } from '../../messages/history.ts'
import { cloneJson } from '../../messages/json.ts'
import type { Message } from '../../messages/message.ts'
import { toJson } from '../../messages/plain-json.ts'
import type { Usage } from '../../messages/usage.ts'
import { type Model, type ModelRef, modelId } from '../../model/model.ts'
import { isLate, State } from '../../onion/attempt.ts'
import { abandonedError, layerError } from '../../onion/misuse.ts'
import type { Capabilities } from '../../ports/capability.ts'
import type { RegisteredContext } from '../../ports/register.ts'
import type { StateWrite } from '../../state/state-store.ts'
import type { DisplayText, OnChunk, Pipe } from '../../stream/transforms.ts'
import type { ToolExecution } from '../../tool/tool.ts'
import { isRunByProvider } from '../../tool/tool-guard.ts'
import { layerOf } from '../agent/context.ts'
import { checkEvent, SessionAttempt } from '../session/context.ts'
import { resolveModel as resolveRef } from '../session/resolve-model.ts'
import type { SessionScope } from '../session/session-scope.ts'
import { Display } from './display.ts'
import { logRecord, logWrite } from './effect-log.ts'
import { ofOnce } from './once.ts'
import { transformsOf } from './stream-verbs.ts'
import type { CallOfTurn, Turn } from './turn.ts'

/** @throws AlliumError `layer.result` if a layer replaced the input with something other than a list of messages */
function checkInputOf(attempt: TurnAttempt, input: unknown): void {
  try {
    if (!Array.isArray(input))
      throw new AlliumError('message.invalid', `It is ${describe(input)}, not a list of messages.`)
    for (const [i, message] of input.entries()) checkMessage(message, `ctx.input[${i}]`)
  } catch (error) {
    throw layerError(attempt, 'layer.result', `set ctx.input to an invalid value. ${messageOf(error)}`, error)
  }
}

/** The turn whose tool call runs this one, if it is a sub-agent's. Otherwise the turn itself. */
function callerOf(turn: Turn): Turn {
  const { parent } = turn.session
  return parent instanceof TurnAttempt ? parent.$turn : turn
}

/** The one attempt of a turn layer's next(), and the context of that layer. The core's attempt is the context of the loop. */
export class TurnAttempt<C extends CallOfTurn = CallOfTurn> extends SessionAttempt<C> implements TurnContext {
  $history: ReadonlyHistory | undefined = undefined
  /** The layer is inspecting a steered message, so a block rejects only that message. */
  $inspectsSteered = false

  get $turn(): Turn {
    return this.$call.turn
  }
  /** Whether this is an attempt of the turn itself, and not of a call inside it. */
  get $isOfTurn(): boolean {
    const turn: CallOfTurn = this.$turn
    return this.$call === turn
  }
  /** The turn that the layer acts for. For an inherited layer, the turn of its agent that called the sub-agent. */
  get $homeTurn(): Turn {
    let turn = this.$turn
    for (let levelsUp = this.$hook?.levelsUp ?? 0; levelsUp > 0; levelsUp--) turn = callerOf(turn)
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
  get turnIndex(): number {
    return this.$turn.turnIndex
  }
  get stepIndex(): number {
    return this.$turn.stepIndex
  }
  get startedAt(): number {
    return this.$turn.startedAt
  }
  get plan(): TurnPlan {
    const { view, options, maxSteps } = this.$turn
    const { model, settings, format, tools, onRetryAfterOutput } = options
    return {
      ...{ input: view.input, model: modelId(model), settings, tools: tools.defs },
      ...{ maxSteps, onRetryAfterOutput, answerTool: format?.tool?.name },
      flowOf: (tool) => tools.flowOf(tool),
      runsAtProvider: (tool) => isRunByProvider(tools.get(tool)?.tool),
    }
  }
  get signal(): AbortSignal {
    return this.$cancel.signal
  }
  get usage(): Usage {
    return { ...this.$turn.usage }
  }
  abort(reason?: unknown): never {
    if (this.$isLate('abort')) throw abandonedError(this)
    return this.$homeTurn.lifecycle.abort(reason)
  }
  block(reason: string, options: BlockOptions = {}): never {
    if (this.$isLate('block')) throw abandonedError(this)
    if (this.$inspectsSteered) throw new BlockError(reason, options)
    return this.$homeTurn.lifecycle.block(reason, options)
  }
  stop(reason = 'stopped'): void {
    if (!this.$isLate('stop')) this.$homeTurn.stop(reason)
  }
  override emit(event: CustomEvent): void {
    checkEvent(this, event)
    // Events of a late layer go only to observers.
    if (!isLate(this)) this.$turn.send(event)
    else if (!this.$turn.hasEnded) this.$turn.observe(event)
  }
  defer(promise: PromiseLike<unknown>): void {
    this.$turn.finalizers.defer(promise, this.$name)
  }
  onInput(fn: OnInput): void {
    if (this.$isLate('onInput')) return
    if (!this.$isOfTurn || this.$inner !== undefined || this.$hook === undefined)
      throw layerError(
        this,
        'layer.late_transform',
        'called ctx.onInput() too late. Call it in a turn hook, before next().',
      )
    this.$turn.inputs ??= []
    this.$turn.inputs.push({ fn, layer: this })
  }
  onEnd(fn: (end: RunEnd) => unknown): void {
    this.$turn.finalizers.onEnd(fn, this.$name)
  }
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>): Promise<T>
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>, options: OnceOptions): T | Promise<T>
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>, options?: OnceOptions): T | Promise<T> {
    checkOptions(options, ofOnce, 'once()', 'layer.invalid')
    if (options?.per !== 'attempt') return this.$turn.onces.run(this.onceKey(key), fn)
    const levelsUp = this.$hook?.levelsUp ?? ''
    return this.$turn.onces.inAttempt(`${this.onceScope}${this.$number}:${levelsUp}:${this.$name}:${key}`, fn)
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
    return levelsUp === undefined ? this.$turn.capabilities : this.$homeTurn.capabilities
  }
  /** Marks a turn layer that depends on the input, because a later message would bypass it. */
  $reads(): void {
    if (!this.$isOfTurn || this.$inner !== undefined || this.$hook?.observesOnly !== false) return
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

type InTurn = TurnView<unknown, unknown, unknown, unknown>

/** Returns whether the turn resumes a suspended one. */
export function isResumed(ctx: InTurn): boolean {
  return layerOf('isResumed()', ctx, TurnAttempt).$turn.options.resume !== undefined
}

/** Returns whether a sub-agent inherited the layer and this call belongs to the sub-agent. */
export function isInherited(ctx: InTurn): boolean {
  return layerOf('isInherited()', ctx, TurnAttempt).$hook?.levelsUp !== undefined
}

/**
 * Returns the id of the turn's first run, which is the same across suspensions. In an inherited layer it is the id of
 * the parent's turn. Use it for counts per turn.
 */
export function rootTurnIdOf(ctx: InTurn): string {
  return layerOf('rootTurnIdOf()', ctx, TurnAttempt).$homeTurn.rootId
}

/**
 * Returns whether this part of the run is a replay: the run was cut off, and the journal returns the recorded steps.
 * Layers that log or count should skip it. An event at the very moment of the cut may be emitted in neither process, or
 * in both.
 */
export function isReplaying(ctx: InTurn | ToolExecution): boolean {
  const { $turn, $real, $call } = layerOf<TurnAttempt>('isReplaying()', ctx, TurnAttempt)
  return $turn.steps?.isReplaying($real?.$call ?? $call) ?? false
}

/** Sets the maximum number of steps of this turn. At the limit the turn stops with `max_steps`. */
export function setMaxSteps(ctx: InTurn, steps: number): void {
  const layer = layerOf('setMaxSteps()', ctx, TurnAttempt)
  if (!layer.$isLate('setMaxSteps')) layer.$turn.maxSteps = steps
}

/**
 * Stores data with the run. The record enters the store's outbox together with the run; a run that is not stored leaves
 * no record. Records of a sub-agent are stored with the run of its parent. Takes plain data, like `toJson`, and copies
 * it; bytes, dates and URLs are shared.
 *
 * @throws AlliumError `state.invalid` if the data cannot be stored
 */
export function record(ctx: InTurn, topic: string, data: unknown): void {
  const layer = layerOf('record()', ctx, TurnAttempt)
  if (layer.$isLate('record')) return
  const { $homeTurn, $effects } = layer
  const { ids, clock } = $homeTurn.session.agent.setup
  toJson(data)
  const stored = { id: ids(), topic, data: cloneJson(data), at: clock.now() }
  $homeTurn.storeRecord(stored)
  if ($effects !== undefined) logRecord($effects.session, $effects.levelsUp, stored)
}

/**
 * Maps the text that the run's own reader receives: text and reasoning of the stream, and the `text` of the result.
 * Layers, history, stores and observers keep the original. `make` is called once per text stream.
 */
export function onDisplay(ctx: InTurn, make: () => DisplayText): void {
  const layer = layerOf('onDisplay()', ctx, TurnAttempt)
  if (layer.$isLate('onDisplay')) return
  const { $turn } = layer
  $turn.display ??= new Display($turn.events)
  $turn.display.add(make)
}

/**
 * Resolves a model reference as the agent does, for a layer that calls a model itself.
 *
 * @throws AlliumError `model.unresolved`, `model.invalid`, `provider.*`
 */
export function resolveModel(ctx: InTurn, ref: ModelRef): Promise<Model> {
  return resolveRef(layerOf('resolveModel()', ctx, TurnAttempt).$session, ref)
}
