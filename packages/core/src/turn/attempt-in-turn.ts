import type { InnerRun, OnceOptions, TurnPlan, TurnView } from '../contexts/turn.ts'
import { AlliumError } from '../errors/allium-error.ts'
import type { BlockOptions } from '../errors/block-error.ts'
import { describe, messageOf } from '../errors/describe.ts'
import { checkOptions } from '../errors/known-options.ts'
import type { CustomEvent, RunEnd } from '../events/events.ts'
import { checkMessage } from '../messages/check-messages.ts'
import type { ReadonlyHistory } from '../messages/history.ts'
import type { Message } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import { modelId } from '../model/model.ts'
import { isLate, State } from '../onion/attempt.ts'
import { abandonedError, layerError } from '../onion/misuse.ts'
import type { Capabilities } from '../ports/capability.ts'
import type { RegisteredContext } from '../ports/register.ts'
import { checkEvent, SessionAttempt } from '../session/scope/context.ts'
import type { SessionScope } from '../session/scope/session-scope.ts'
import type { StateWrite } from '../state/state-store.ts'
import type { OnChunk, Pipe, StreamVerbs } from '../stream/transforms.ts'
import { isRunByProvider } from '../tool/tool-guard.ts'
import { logWrite } from './effect-log.ts'
import { ofOnce } from './once.ts'
import { transformsOf } from './stream-verbs.ts'
import type { CallOfTurn, Turn } from './turn.ts'

/** @throws AlliumError `layer.result` if a layer replaced the input with something other than a list of messages */
function checkInputOf(attempt: AttemptInTurn, input: unknown): void {
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
  return parent instanceof AttemptInTurn ? parent.$turn : turn
}

/** An attempt that has a turn: of the turn itself, of a model call or of a tool call. It implements the view of the turn that all of them share. */
export abstract class AttemptInTurn<C extends CallOfTurn = CallOfTurn>
  extends SessionAttempt<C>
  implements TurnView, StreamVerbs
{
  $history: ReadonlyHistory | undefined = undefined

  get $turn(): Turn {
    return this.$call.turn
  }
  /** The turn that the layer acts for. For an inherited layer, the turn of its agent that called the sub-agent. */
  get $homeTurn(): Turn {
    let turn = this.$turn
    for (let levelsUp = this.$hook?.levelsUp ?? 0; levelsUp > 0; levelsUp--) turn = callerOf(turn)
    return turn
  }
  /** For an inherited layer: where to log its effects for a replay, in every call between its owner and this session. */
  get $effects(): { readonly session: SessionScope; readonly levelsUp: number } | undefined {
    const levelsUp = this.$hook?.levelsUp
    return levelsUp === undefined ? undefined : { session: this.$turn.session, levelsUp }
  }

  override get context(): RegisteredContext {
    return this.$turn.options.context as RegisteredContext
  }
  override get history(): ReadonlyHistory {
    return (this.$history ??= this.$session.history.viewFor(() => !this.$isLate('history')))
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
  override on(name: string, listener: (event: never) => unknown): void {
    this.$agent.observers.on(name, listener, this.$turn)
    this.onEnd(() => this.$agent.observers.leave(this.$turn))
  }
  defer(promise: PromiseLike<unknown>): void {
    this.$turn.finalizers.defer(promise, this.$name)
  }
  onEnd(fn: (end: RunEnd) => unknown): void {
    this.$turn.finalizers.onEnd(fn, this.$name)
  }
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>): Promise<T>
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>, options: OnceOptions): T | Promise<T>
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>, options?: OnceOptions): T | Promise<T> {
    checkOptions(options, ofOnce, 'once()', 'layer.invalid')
    const { $name: layer, $turn } = this
    if (options?.per !== 'attempt') return $turn.onces.run(this.onceKey(key), fn, layer)
    const levelsUp = this.$hook?.levelsUp ?? ''
    return $turn.onces.inAttempt(`${this.onceScope}${this.$number}:${levelsUp}:${layer}:${key}`, fn, layer)
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
  /** Called before the layer reads or replaces the input. */
  $reads(): void {}
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
