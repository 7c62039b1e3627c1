import type { Message } from '../../messages/message.ts'
import type { Usage } from '../../messages/usage.ts'
import { modelId, type Settings, type ToolDef } from '../../model/model.ts'
import type { Capabilities } from '../../seams/capability.ts'
import type { State } from '../../state/state-store.ts'
import type { OnChunk, Pipe } from '../../stream/transforms.ts'
import { type SessionContext, SessionView } from '../session/context.ts'
import type { SessionScope } from '../session/session-scope.ts'
import { type RunEnd, RunEnds } from './run-ends.ts'
import { type StreamVerbs, transformsOf } from './stream-verbs.ts'
import type { TurnScope } from './turn-scope.ts'

/** Turn scope: one input to one answer. */
export interface TurnContext<S = State, Config = unknown, C = unknown, P = unknown>
  extends SessionContext<S, Config, C, P>,
    StreamVerbs {
  /** The input of this turn; a guard may replace it before next(). */
  input: Message[]
  /** The answer's text; null until the turn has one. Setting it before next() and not calling next() answers the turn. */
  output: string | null
  /** The working view that each model call starts from; replaceable, for compaction. The history stays whole. */
  messages: Message[]
  /** The id of this run. */
  readonly turnId: string
  /** The id of the turn's first run, over suspensions; for a layer that a sub-agent inherited, of its parent's turn. What counts per turn counts by it. */
  readonly rootTurnId: string
  /** Counts the turns of the session from 0. */
  readonly turnIndex: number
  /** Counts the steps of this turn from 0. */
  readonly stepIndex: number
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** What the model calls of this turn start from, to read. */
  readonly plan: TurnPlan
  /** The steps that this turn may have; then it is stopped with `max_steps`. */
  maxSteps: number
  /** Aborts when the run does, or when a layer outside narrowed it. */
  readonly signal: AbortSignal
  /** What the turn has used so far. */
  readonly usage: Readonly<Usage>
  /** Ends the run with an AbortError: everything is cancelled, every layer unwinds. */
  abort(reason?: unknown): never
  /** Trips a guardrail: unwinds, and is the status of the result. `reply` becomes its text. */
  block(reason: string, options?: { reply?: string }): never
  /** Ends the loop after this step. */
  stop(reason?: string): void
  /** Work that the run's completion awaits, but not its stream. A rejection goes to observers and the logger. */
  defer(promise: PromiseLike<unknown>): void
  /**
   * Runs `fn` when the run has ended, whichever way, with its `turn:end`. It is awaited before the run settles; those of
   * inner layers run first. What it throws goes to observers and the logger.
   */
  onEnd(fn: (end: RunEnd) => unknown): void
  /** Runs a side effect once per key in this turn; in a tool the key is the call's own. A failure may be tried again. */
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T>
}

/** What the model calls of a turn start from. */
export interface TurnPlan {
  /** The id of the model. */
  readonly model: string
  readonly settings: Readonly<Settings>
  /** The agent's tools. */
  readonly tools: readonly ToolDef[]
  /** The tool that the model answers with, where the run's `output` is got that way. */
  readonly answerTool: string | undefined
}

export class TurnView extends SessionView implements TurnContext {
  protected override get $session(): SessionScope {
    return this.$turn.session
  }
  protected get $turn(): TurnScope {
    return this.$frame.passage as TurnScope
  }
  /** The turn that the layer acts for. */
  protected get $acts(): TurnScope {
    return this.$frame.hook.up === undefined ? this.$turn : (this.$owner.turn ?? this.$turn)
  }

  override get context(): unknown {
    return this.$turn.options.context
  }
  override get metadata(): Record<string, unknown> {
    return this.$turn.metadata
  }
  get input(): Message[] {
    return this.$turn.input
  }
  set input(input: Message[]) {
    this.$turn.setInput(input)
  }
  get output(): string | null {
    return this.$turn.answer.output
  }
  set output(text: string | null) {
    this.$turn.answer.set(this.$frame, text)
  }
  get messages(): Message[] {
    return this.$turn.messages
  }
  set messages(messages: Message[]) {
    this.$turn.messages = messages
  }
  get turnId(): string {
    return this.$turn.turnId
  }
  get rootTurnId(): string {
    return this.$acts.rootId
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
    const { model, settings, format } = this.$turn.options
    return { model: modelId(model), settings, tools: this.$agent.tools.defs, answerTool: format?.tool?.name }
  }
  get maxSteps(): number {
    return this.$turn.maxSteps
  }
  set maxSteps(steps: number) {
    this.$turn.maxSteps = steps
  }
  get signal(): AbortSignal {
    return this.$frame.cancel.signal
  }
  get usage(): Usage {
    return { ...this.$turn.usage }
  }
  abort(reason?: unknown): never {
    return this.$acts.abort(reason)
  }
  block(reason: string, { reply }: { reply?: string } = {}): never {
    return this.$acts.block(reason, reply)
  }
  stop(reason = 'stopped'): void {
    this.$acts.stopReason ??= reason
  }
  defer(promise: PromiseLike<unknown>): void {
    this.$turn.defer(promise, this.$frame.hook.name)
  }
  onEnd(fn: (end: RunEnd) => unknown): void {
    this.$turn.ends ??= new RunEnds()
    this.$turn.ends.add(fn, this.$frame.hook.name)
  }
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    return this.$turn.once(this.onceKey(key), fn)
  }
  onChunk(fn: OnChunk): void {
    transformsOf(this.$frame, 'onChunk').steps.push({ map: fn })
  }
  pipe(fn: Pipe): void {
    transformsOf(this.$frame, 'pipe').steps.push({ pipe: fn })
  }
  hold(): void {
    transformsOf(this.$frame, 'hold').hold = true
  }
  protected override capabilities(): Capabilities {
    return this.$turn.capabilities
  }
  protected onceKey(key: string): string {
    return key
  }
}
