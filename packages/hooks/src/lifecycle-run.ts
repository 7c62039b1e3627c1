import type {
  ModelContext,
  ModelResponse,
  NextFor,
  RunEnd,
  ToolContext,
  ToolResult,
  TurnView,
  Usage,
} from '@allium/core'
import { isResumed, pendingCalls, physicalCallsOf, setMaxSteps } from '@allium/core/context'
import { usageOf } from '@allium/core/internal'
import { type Chain, inTurn, joinChains } from './chain.ts'
import { hookPipe } from './chunks.ts'
import { RunContext } from './hook-context.ts'
import { shapeOutput } from './output-config.ts'
import { changeCall, pipeConfig, sourceOfCall, sourceOfRun } from './pipe-config.ts'
import type { Changes } from './run-config.ts'
import { hasTerminal, reportEnd } from './run-end.ts'
import { decideCall, outcomeOf } from './tool-call.ts'
import { ToolCalls } from './tool-calls.ts'

/** The hooks of one layer in one run: the calls from each scope of the onion, and their shared data. */
export class LifecycleRun {
  readonly #turn: TurnView
  readonly #ctx: RunContext<unknown>
  readonly #started: number
  #chain: Chain
  /** The changes of config hooks to the run; its messages are those of this iteration. */
  #changes: Changes = {}
  /** The start of the iteration. All attempts of its model call wait for it, because one of them may be abandoned meanwhile. */
  #iteration: { readonly iteration: number; readonly done: Promise<boolean> } | undefined
  #calls: ToolCalls | undefined
  /** The latest attempt of each tool call; results of older ones do not count. */
  readonly #attempts = new Map<string, number>()
  /** The error of an after-hook. The tool results stay; the run fails when the step has ended. */
  #failed: { readonly error: unknown } | undefined
  #isEndRegistered = false

  readonly #endTimeout: number
  #starting: Promise<void> | undefined

  /** @param endTimeout how long the run waits for its terminal hooks, in milliseconds */
  constructor(turn: TurnView, chain: Chain, endTimeout: number) {
    this.#turn = turn
    this.#chain = chain
    this.#endTimeout = endTimeout
    this.#ctx = new RunContext(turn, isResumed(turn))
    this.#started = turn.clock.monotonic()
  }

  /** Runs before anything else. */
  async setUp(chain = this.#chain): Promise<void> {
    if (!this.#isEndRegistered && hasTerminal(chain)) {
      this.#isEndRegistered = true
      this.#turn.onEnd((end) => this.#reportEnd(end))
    }
    await inTurn(chain.setup, this.#ctx)
  }

  /** Appends the hooks of an inner layer. */
  join(chain: Chain): Promise<void> {
    this.#chain = joinChains(this.#chain, chain)
    return this.setUp(chain)
  }

  /** Starts the run, once. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /** Runs after the loop has ended. */
  async loopEnded(): Promise<void> {
    if (this.#failed === undefined)
      await this.#calls?.onLoopEnd(pendingCalls(this.#turn).length > 0, () => this.#toolsDone(false))
    if (this.#failed !== undefined) throw this.#failed.error
  }

  async model(ctx: ModelContext, next: NextFor<ModelResponse>): Promise<ModelResponse> {
    if (!(await this.#ensureIteration(ctx))) return ctx.skipCall({ text: '' })
    const { onConfig, onBeforeModel, onChunk, onUsage } = this.#chain
    if (onConfig.length > 0) changeCall(ctx, this.#turn, this.#changes, ctx.plan.tools)
    if (onBeforeModel.length > 0) await this.#tune(ctx)
    if (onChunk.length > 0) ctx.pipe(hookPipe(onChunk, this.#ctx))
    this.#ctx.phase = 'modelStream'
    try {
      const response = await next()
      if (hasPhase(this.#chain)) this.#expect(ctx, response)
      return response
    } finally {
      if (onUsage.length > 0) await this.#reportUsage(usageOf(physicalCallsOf(ctx)))
    }
  }

  /** Runs directly around the provider, where the request is final. */
  async provider(ctx: ModelContext, next: () => unknown): Promise<unknown> {
    if (this.#chain.onStructuredOutputConfig.length > 0) await shapeOutput(this.#chain, this.#ctx, ctx, this.#turn)
    return next()
  }

  async tool(ctx: ToolContext, next: NextFor<ToolResult>): Promise<ToolResult> {
    const { onBeforeToolCall, onAfterToolCall } = this.#chain
    this.#ctx.phase = 'beforeTools'
    this.#attempts.set(ctx.callId, ctx.attempt)
    const started = ctx.clock.monotonic()
    const skipped = onBeforeToolCall.length === 0 ? undefined : await decideCall(onBeforeToolCall, this.#ctx, ctx)
    const result = skipped ?? (await next())
    if (result.status === 'suspended' || (onAfterToolCall.length === 0 && !hasPhase(this.#chain))) return result
    try {
      const outcome = outcomeOf(ctx, result, ctx.clock.monotonic() - started)
      await inTurn(onAfterToolCall, this.#ctx, outcome)
      if (!hasPhase(this.#chain) || this.#isAbandoned(ctx)) return result
      this.#calls ??= new ToolCalls(ctx.stepIndex)
      if (this.#calls.add(ctx.callIndex, outcome)) await this.#toolsDone(true)
    } catch (error) {
      if (this.#isAbandoned(ctx)) return result
      this.#failed ??= { error }
      ctx.stop('a hook failed')
    }
    return result
  }

  async #start(): Promise<void> {
    if (this.#chain.onConfig.length > 0) await this.#configure()
    this.#changes = { ...this.#changes, messages: undefined } // from here on they are in the turn's messages
    await inTurn(this.#chain.onStart, this.#ctx)
  }

  #reportEnd(end: RunEnd): Promise<void> {
    const { clock } = this.#turn
    const duration = clock.monotonic() - this.#started
    return reportEnd(this.#chain, this.#ctx, { ...end, duration }, { ms: this.#endTimeout, clock })
  }

  /** Resolves to false if the loop must end instead. If a hook throws, the next attempt starts the iteration again. */
  #ensureIteration(ctx: ModelContext): Promise<boolean> {
    if (this.#iteration?.iteration === ctx.stepIndex) return this.#iteration.done
    const iterationStart = { iteration: ctx.stepIndex, done: this.#beginIteration(ctx) }
    this.#iteration = iterationStart
    iterationStart.done.catch(() => {
      if (this.#iteration === iterationStart) this.#iteration = undefined
    })
    return iterationStart.done
  }

  #isAbandoned({ callId, attempt, signal }: ToolContext): boolean {
    return this.#attempts.get(callId) !== attempt || signal.aborted
  }

  async #beginIteration(ctx: ModelContext): Promise<boolean> {
    if (this.#calls?.isReported === false && !(await this.#toolsDone(true))) return false
    this.#calls = undefined
    this.#ctx.phase = 'beforeModel'
    this.#changes = { ...this.#changes, messages: undefined }
    await inTurn(this.#chain.onIteration, this.#ctx, { iteration: ctx.stepIndex })
    if (this.#chain.onConfig.length > 0) await this.#configure()
    return true
  }

  async #configure(): Promise<void> {
    const source = sourceOfRun(this.#turn, this.#changes)
    const { settings, maxSteps, ...changes } = (await pipeConfig(this.#chain, 'onConfig', this.#ctx, source)) ?? {}
    this.#changes = { ...this.#changes, ...changes, settings: { ...this.#changes.settings, ...settings } }
    if (changes.messages !== undefined) this.#turn.messages = [...changes.messages]
    if (maxSteps !== undefined) setMaxSteps(this.#turn, maxSteps)
  }

  async #tune(ctx: ModelContext): Promise<void> {
    const source = sourceOfCall(ctx, this.#turn)
    const changes = await pipeConfig(this.#chain, 'onBeforeModel', this.#ctx, source)
    if (changes !== undefined) changeCall(ctx, this.#turn, changes, source.fields.tools)
  }

  #expect({ stepIndex }: ModelContext, { toolCalls }: ModelResponse): void {
    const calls = toolCalls.filter(({ providerExecuted }) => providerExecuted !== true).length
    this.#calls = calls === 0 ? undefined : new ToolCalls(stepIndex, calls)
  }

  #reportUsage(used: Usage): Promise<void> | undefined {
    return used.inputTokens + used.outputTokens > 0 ? inTurn(this.#chain.onUsage, this.#ctx, used) : undefined
  }

  /** Runs when all tools of an iteration have results. Returns whether the loop continues. */
  async #toolsDone(decides: boolean): Promise<boolean> {
    const { onToolPhaseComplete, onShouldContinue } = this.#chain
    const phase = this.#calls?.complete()
    this.#ctx.phase = 'afterTools'
    await inTurn(onToolPhaseComplete, this.#ctx, phase)
    if (!decides) return false
    let stoppedBy: string | undefined
    for (const { name, call } of onShouldContinue) if ((await call(this.#ctx, phase)) === false) stoppedBy ??= name
    if (stoppedBy !== undefined) this.#turn.stop(`"${stoppedBy}" does not continue`)
    return stoppedBy === undefined
  }
}

const hasPhase = ({ onToolPhaseComplete, onShouldContinue }: Chain): boolean =>
  onToolPhaseComplete.length + onShouldContinue.length > 0
