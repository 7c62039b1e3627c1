import type { Clock, Journal, Model, ModelChunk, ToolResult } from '@allium/core'
import { AlliumError, systemClock } from '@allium/core'
import type { ReadTurn } from '../recorded/read-recordings.ts'
import { type CallOutcome, callKey, keyOfStep, RecordedCalls, resultOf } from './recorded-calls.ts'

/** A tool call of the backtest. */
export interface BacktestCall {
  readonly key: string
  readonly turnId: string
  readonly callId: string
  readonly tool: string
  /** Its number in the turn, by its start. */
  readonly number: number
  /** Undefined until it has ended, and for a call that could not be judged. */
  outcome: CallOutcome | undefined
  layer: string | undefined
  reason: string | undefined
  /** Whether a layer or the core denied or suspended it. */
  isDecided: boolean
  /** Whether it reached the tool. */
  reached: boolean
  /** Whether its sub-agent or a cache stands for it, so that reaching the tool is no change. */
  entered: boolean
}

/** The agent of the backtest, as it is now. */
export interface AgentNow {
  /** The tools that only run a sub-agent. */
  readonly delegates: ReadonlySet<string>
  /** The layers whose tool hooks are passed by. */
  readonly passedBy: ReadonlySet<string>
  /** Whether a layer has the version and the options of a recorded turn, as far as they are known. */
  isUnchanged(layer: string | undefined, recorded: ReadTurn['recorded']): boolean
}

/** Runs one recorded turn through the tool layers of an agent, and answers its model and tool calls from the recording. */
export class TurnBacktest {
  readonly recorded: RecordedCalls
  readonly calls = new Map<string, BacktestCall>()
  readonly clock: Clock
  readonly journal: Journal
  /** Why calls that come now are not judged. */
  cut: string | undefined
  /** Why the turn cannot be judged to its end. */
  diverged: string | undefined
  /** The steps of `ctx.once()` that run here. Agents inside have their ids as turn ids. */
  readonly #onces: string[] = []
  readonly #turn: ReadTurn
  readonly #agent: AgentNow

  constructor(turn: ReadTurn, agent: AgentNow) {
    this.#turn = turn
    this.#agent = agent
    const { recorded } = turn
    this.recorded = new RecordedCalls(turn.turnId, recorded)
    this.clock = { ...systemClock, now: () => recorded.startedAt }
    this.journal = { compares: false, step: (id, work, emit) => this.#step(id, work, emit) as never }
  }

  get turnId(): string {
    return this.#turn.turnId
  }

  /** Stops judging: what comes next is unknown. */
  diverge(reason: string): void {
    this.diverged ??= reason
    this.cut ??= reason
  }

  begin({ turnId, callId, tool }: { turnId: string; callId: string; tool: { name: string } }): BacktestCall {
    const key = callKey(turnId, callId)
    const known = this.calls.get(key)
    if (known !== undefined) return known
    const { size: number } = this.calls
    const call: BacktestCall = {
      ...{ key, turnId, callId, tool: tool.name, number },
      ...{ outcome: undefined, layer: undefined, reason: undefined, isDecided: false, reached: false, entered: false },
    }
    this.calls.set(key, call)
    return call
  }

  /** Returns a model that answers as the recorded one did. After the recorded answers it ends the turn. */
  modelFor({ turnId, callIndex, model: id }: { turnId: string; callIndex: number; model: string }): Model {
    const answer = this.cut === undefined ? this.recorded.answer(turnId, callIndex) : undefined
    const { items, finish } = answer ?? { items: [], finish: { type: 'finish', reason: 'stop', usage: {} } }
    return {
      id,
      async *stream() {
        for (const item of items) yield item as ModelChunk
        yield finish as ModelChunk
      },
    }
  }

  /** A layer may deny a call and return something else. If it is the outermost layer, only the result of the run shows it. */
  ended(records: readonly { readonly callId: string; readonly result: ToolResult }[]): void {
    for (const { callId, result } of records) {
      const call = this.calls.get(callKey(this.turnId, callId))
      if (result.status !== 'denied' || call?.outcome !== 'answered') continue
      call.outcome = 'denied'
      call.reason = typeof result.content === 'string' ? result.content : undefined
    }
  }

  #step(id: string, work: (emit: never) => unknown, emit: unknown): unknown {
    const call = this.calls.get(keyOfStep(id))
    if (call !== undefined) return this.#tool(call, id, () => work(emit as never))
    if (this.#onces.some((outer) => id.startsWith(`${outer}:model:`) || id.startsWith(`${outer}:tool:`)))
      return this.#refuse()
    if (!id.slice(this.turnId.length).includes(':once:')) return work(emit as never)
    const once = this.recorded.once(id)
    const isKept = once?.error === undefined && this.#agent.isUnchanged(once?.layer, this.#turn.recorded)
    if (once !== undefined && isKept) return once.result
    this.#onces.push(id)
    return work(emit as never)
  }

  /** A layer asks a model, which could answer differently from what it answered then. */
  #refuse(): never {
    this.diverge('a layer needs a live answer')
    throw new AlliumError('run.failed', 'A backtest calls no model. Replay the turn instead.')
  }

  /** Answers a call that has passed all layers. */
  async #tool(call: BacktestCall, id: string, work: () => unknown): Promise<ToolResult> {
    call.reached = true
    const { turnId, callId, key } = call
    const nothing: ToolResult = { callId, content: '', status: 'ok' }
    const { exact, last } = this.recorded.step(id)
    const result = exact?.error === undefined ? resultOf(exact?.result, callId) : undefined
    if (this.#agent.delegates.has(call.tool) && this.recorded.hasSubAgent(turnId, callId)) {
      call.entered = true
      const live = (await work()) as ToolResult
      return live.status === 'suspended' ? live : (result ?? live)
    }
    if (result !== undefined) return result
    if (exact !== undefined) this.cut ??= 'after a cancelled call'
    else if (last !== undefined) this.diverge('another attempt of the call was not recorded')
    else return this.#answerOfLayer(call) ?? this.#withoutOutcome(key) ?? nothing
    return nothing
  }

  /** A layer that a backtest passes by, such as a cache, answered the call then. */
  #answerOfLayer(call: BacktestCall): ToolResult | undefined {
    const { outcome, layer = '' } = this.recorded.outcome(call.key)
    if (outcome !== 'answered' || !this.#agent.passedBy.has(layer)) return undefined
    call.entered = true
    return resultOf(this.recorded.answerOfLayer(call.key), call.callId)
  }

  #withoutOutcome(key: string): undefined {
    if (this.recorded.outcome(key).outcome === 'allowed') this.diverge('the result of the call was not recorded')
    else this.cut ??= 'after a newly allowed call'
  }
}
