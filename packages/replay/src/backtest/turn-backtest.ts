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
  /** Whether it reached the tool. */
  reached: boolean
  /** Whether the calls of its sub-agent are judged instead. */
  entered: boolean
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
  readonly #turn: ReadTurn
  readonly #isSameVersion: boolean
  readonly #delegates: ReadonlySet<string>

  constructor(turn: ReadTurn, version: string | undefined, delegates: ReadonlySet<string>) {
    this.#turn = turn
    this.#delegates = delegates
    const { recorded } = turn
    this.#isSameVersion = version !== undefined && version === recorded.version
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
      ...{ outcome: undefined, layer: undefined, reason: undefined, reached: false, entered: false },
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

  #step(id: string, work: (emit: never) => unknown, emit: unknown): unknown {
    const call = this.calls.get(keyOfStep(id))
    if (call !== undefined) return this.#tool(call, id, () => work(emit as never))
    if (!id.includes(':once:')) return work(emit as never)
    if (/:(model|tool:.+):\d+:?\d*$/.test(id)) return this.#refuse()
    const once = this.#isSameVersion ? this.recorded.once(id) : undefined
    return once === undefined || once.error !== undefined ? work(emit as never) : once.result
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
    if (this.#delegates.has(call.tool) && this.recorded.hasSubAgent(turnId, callId)) {
      call.entered = true
      const live = (await work()) as ToolResult
      return live.status === 'suspended' ? live : ((exact && resultOf(exact, callId)) ?? live)
    }
    if (exact !== undefined) {
      const result = resultOf(exact, callId)
      if (result === undefined) this.cut ??= 'the call was cancelled'
      return result ?? nothing
    }
    if (last !== undefined) this.diverge('another attempt of the call was not recorded')
    else this.cut ??= this.#withoutOutcome(key)
    return nothing
  }

  #withoutOutcome(key: string): string {
    const { outcome } = this.recorded.outcome(key)
    if (outcome === 'denied' || outcome === 'waiting') return 'after a newly allowed call'
    this.diverge(outcome === 'answered' ? 'a layer answered the call then' : 'the result of the call was not recorded')
    return this.cut as string
  }
}
