import {
  type ModelContext,
  type ModelResponse,
  type NextFor,
  type RunEnd,
  type ToolContext,
  type ToolResult,
  type TurnContext,
  type Usage,
  usageOf,
} from '@allium/core'
import { type Chain, inTurn, joinChains } from './chain.ts'
import { hookPipe } from './chunks.ts'
import { RunContext } from './hook-context.ts'
import { shapeOutput } from './output-config.ts'
import { changeCall, pipeConfig, sourceOfCall, sourceOfRun } from './pipe-config.ts'
import type { Changes } from './run-config.ts'
import { hasTerminal, reportEnd } from './run-end.ts'
import { decideCall, outcomeOf } from './tool-call.ts'
import { ToolCalls } from './tool-calls.ts'

/** The hooks of one layer in one run: what each scope of the onion calls, and what they share. */
export class LifecycleRun {
  readonly #turn: TurnContext
  readonly #ctx: RunContext<unknown>
  readonly #started: number
  #chain: Chain
  /** What the config hooks have changed of the run; its messages are those of this iteration. */
  #changes: Changes = {}
  /** How the iteration begins, which all attempts of its model call wait for: one of them may be left meanwhile. */
  #iteration: { readonly iteration: number; readonly done: Promise<boolean> } | undefined
  #calls: ToolCalls | undefined
  /** The attempt of each tool call that began last: what an older one comes to does not count. */
  readonly #attempts = new Map<string, number>()
  /** What an after-hook threw. The results of the tools stand; the run fails when the step has ended. */
  #failed: { readonly error: unknown } | undefined
  #isEndRegistered = false

  readonly #endTimeout: number
  #starting: Promise<void> | undefined

  /** @param endTimeout milliseconds that the run waits for its terminal hooks */
  constructor(turn: TurnContext, chain: Chain, endTimeout: number) {
    this.#turn = turn
    this.#chain = chain
    this.#endTimeout = endTimeout
    this.#ctx = new RunContext(turn)
    this.#started = turn.clock.monotonic()
  }

  /** Before anything else. */
  async setUp(chain = this.#chain): Promise<void> {
    if (!this.#isEndRegistered && hasTerminal(chain)) {
      this.#isEndRegistered = true
      this.#turn.onEnd((end) => this.#reportEnd(end))
    }
    await inTurn(chain.setup, this.#ctx)
  }

  /** Hooks of a layer further inside come behind these. */
  join(chain: Chain): Promise<void> {
    this.#chain = joinChains(this.#chain, chain)
    return this.setUp(chain)
  }

  /** The run starts, once. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /** The loop has ended. */
  async loopEnded(): Promise<void> {
    if (this.#failed === undefined)
      await this.#calls?.onLoopEnd(this.#turn.pending.length > 0, () => this.#toolsDone(false))
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
      if (onUsage.length > 0) await this.#reportUsage(usageOf(ctx.physicalCalls))
    }
  }

  /** Right around the provider: the call is what is sent. */
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
    this.#changes = { ...this.#changes, messages: undefined } // they stand in the turn's from here on
    await inTurn(this.#chain.onStart, this.#ctx)
  }

  #reportEnd(end: RunEnd): Promise<void> {
    const { clock } = this.#turn
    const duration = clock.monotonic() - this.#started
    return reportEnd(this.#chain, this.#ctx, { ...end, duration }, { ms: this.#endTimeout, clock })
  }

  /** False where the loop is to end instead. Where a hook throws, the next attempt begins it anew. */
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
    if (maxSteps !== undefined) this.#turn.maxSteps = maxSteps
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

  /** All tools of an iteration have their results. Gives whether the loop goes on. */
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
