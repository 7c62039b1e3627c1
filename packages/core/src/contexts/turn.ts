import type { BlockOptions } from '../errors/block-error.ts'
import type { RunEnd } from '../events/events.ts'
import type { Message } from '../messages/message.ts'
import type { Usage } from '../messages/usage.ts'
import type { Settings, ToolDef } from '../model/model.ts'
import type { Journal } from '../ports/journal.ts'
import type { RegisteredContext, RegisteredPrincipal } from '../ports/register.ts'
import type { State as StateOf } from '../state/state-store.ts'
import type { StreamVerbs } from '../stream/transforms.ts'
import type { ToolFlow } from '../tool/flow.ts'
import type { SessionView } from './session.ts'

/** What the turn adds to the contexts of its scope and of its model and tool calls. */
export interface TurnView<S = StateOf, Config = unknown, C = RegisteredContext, P = RegisteredPrincipal>
  extends SessionView<S, Config, C, P> {
  /** The input of this turn. */
  readonly input: Message[]
  /** The answer's text; null until the turn has one. */
  readonly output: string | null
  /** The messages that each model call starts from. A layer may replace them, for compaction. The history is not affected. */
  messages: Message[]
  /** The id of this run. */
  readonly turnId: string
  /** Counts the turns of the session from 0. */
  readonly turnIndex: number
  /** Counts the steps of this turn from 0. */
  readonly stepIndex: number
  /** When the run started, in milliseconds since the epoch. For a run that is started again, when it first started. */
  readonly startedAt: number
  /** What the model calls of this turn start from, read-only. */
  readonly plan: TurnPlan
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
   * Runs a side effect once per key in this turn. In a tool the key belongs to the call. After a failure the key may be
   * tried again. `per: 'attempt'` records a layer's finding or choice, so that a replay of the run returns the same
   * value. Results are plain data, as for `toJson`. `fn` gets options for running an agent of the layer:
   * `(inner) => judge.run(text, inner)`.
   */
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>): Promise<T>
  once<T>(key: string, fn: (inner: InnerRun) => T | Promise<T>, options: OnceOptions): T | Promise<T>
}

/** Turn scope: from one input to one answer. */
export interface TurnContext<S = StateOf, Config = unknown, C = RegisteredContext, P = RegisteredPrincipal>
  extends TurnView<S, Config, C, P>,
    StreamVerbs {
  /** The input of this turn. A layer may replace it before next(). */
  input: Message[]
  /** The answer's text; null until the turn has one. A layer that sets it and does not call next() answers the turn itself. */
  get output(): string | null
  set output(text: string)
  /**
   * Inspects each incoming message before the layers inside see it: the turn's input at `next()`, messages of
   * `run.steer()`, and the input of sub-agents that inherit the layer. Return another message to replace it, null to
   * drop it, nothing to keep it. A `block()` during the inspection of a steered message rejects only that message, and
   * the turn continues. Call it before `next()`.
   */
  onInput(fn: OnInput): void
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
  /** The maximum number of steps. At the limit the turn stops with `max_steps`. `setMaxSteps(ctx, steps)` changes it. */
  readonly maxSteps: number
  /** Whether a retry may take back chunks that have reached the reader. */
  readonly onRetryAfterOutput: 'reset' | 'fail'
  /** The tool that the model answers with, if the run's `output` uses one. */
  readonly answerTool: string | undefined
  /** The data flow that a tool of the agent declares. Undefined if it declares none, or if the agent does not have the tool. */
  flowOf(tool: string): ToolFlow<never> | undefined
  /** Whether the provider runs the tool. Layers do not see such calls. */
  runsAtProvider(tool: string): boolean
}

/** Details about an incoming message, passed to `onInput()`. */
export interface InputAbout {
  /** Whether the message was steered into the running turn. */
  readonly steered: boolean
  /**
   * The context for actions on this message. If the message goes to a sub-agent, state writes and records of this
   * context count as effects of the sub-agent's call. A replay does not run the sub-agent again, so it applies them
   * from the journal.
   */
  readonly ctx: TurnView
}

/**
 * Inspects a message before the layers inside see it. Returns another message to replace it, null to drop it, or
 * nothing to keep it.
 */
export type OnInput = (
  message: Message,
  about: InputAbout,
) => Message | null | undefined | void | Promise<Message | null | undefined | void>

export interface OnceOptions {
  /**
   * The lifetime of the key.
   * `turn`: once in this turn, across suspensions too. The result is in snapshots until the turn ends.
   * `attempt`: a value that a layer finds or chooses in one attempt of its call, such as a lookup. The run's journal
   * records it, so that a replay gets the same value. Without a journal the function is called every time.
   *
   * @default 'turn'
   */
  per: 'turn' | 'attempt'
}

/**
 * Options for running an agent of your own inside `ctx.once()`. With them, each of its model calls is a step of the
 * turn's journal, so none is paid for twice if the process dies before `once` ends. Empty if the turn has no journal.
 */
export interface InnerRun {
  readonly turnId?: string
  readonly journal?: Journal
}
