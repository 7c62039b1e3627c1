import type { ToolResult } from '@allium/core'
import { isRecord } from '@allium/core/internal'
import type { RecordedDecision, RecordedStep, RecordedTurn } from '../recorded-turn.ts'

/** How a tool call ended for the layers: it reached the tool, or a layer or the core denied, suspended or answered it. */
export type CallOutcome = 'allowed' | 'denied' | 'waiting' | 'answered'

/** How a call ended when it was recorded. */
export interface RecordedOutcome {
  readonly outcome: CallOutcome
  /** The layer that decided it. Undefined for the core, and for calls that reached the tool. */
  readonly layer?: string | undefined
  readonly reason?: string | undefined
}

/** The answers of a recorded model call. */
interface RecordedAnswer {
  readonly items: readonly unknown[]
  readonly finish: unknown
}

/** The recorded steps and decisions of a turn and its sub-agents, by call. */
export class RecordedCalls {
  readonly #answers = new Map<string, RecordedAnswer>()
  readonly #results = new Map<string, RecordedStep>()
  readonly #last = new Map<string, RecordedStep>()
  readonly #once = new Map<string, RecordedStep>()
  readonly #decisions = new Map<string, RecordedDecision>()
  readonly #turnId: string
  readonly #calls: ReadonlyMap<string, { readonly status: string; readonly name: string }>

  constructor(turnId: string, { steps, decisions, result }: RecordedTurn) {
    this.#turnId = turnId
    for (const step of steps) this.#add(step)
    for (const decision of decisions)
      if (decision.scope === 'tool' && isFinal(decision))
        this.#decisions.set(callKey(decision.turnId, String(decision.call)), decision)
    this.#calls = new Map(result.calls?.map(({ callId, ...call }) => [callKey(turnId, callId), call]))
  }

  /** The keys of all calls that the recording shows. */
  get keys(): ReadonlySet<string> {
    return new Set([...this.#calls.keys(), ...this.#last.keys(), ...this.#decisions.keys()])
  }

  /** Returns the last answer of a model call that did not fail. */
  answer(turnId: string, call: number): RecordedAnswer | undefined {
    return this.#answers.get(`${turnId}:model:${call}`)
  }

  /** Returns the step of one attempt of a call, and the last step of the call for an attempt that was not recorded. */
  step(id: string): { exact: RecordedStep | undefined; last: RecordedStep | undefined } {
    return { exact: this.#results.get(id), last: this.#last.get(keyOfStep(id)) }
  }

  once(id: string): RecordedStep | undefined {
    return this.#once.get(id)
  }

  /** Whether a sub-agent ran inside a call. The ids of its turns begin with `<turn>/<callId>`. */
  hasSubAgent(turnId: string, callId: string): boolean {
    const inside = `${turnId}/${callId}:`
    for (const id of this.#answers.keys()) if (id.startsWith(inside)) return true
    return false
  }

  outcome(key: string): RecordedOutcome {
    const { decision, layer, reason } = this.#decisions.get(key) ?? {}
    if (decision === 'denied' || decision === 'blocked' || decision === 'aborted')
      return { outcome: 'denied', layer, reason }
    if (decision === 'suspended') return { outcome: 'waiting', layer, reason }
    if (this.#last.has(key)) return { outcome: 'allowed' }
    if (decision === 'skipped') return { outcome: 'answered', layer }
    return this.#withoutDecision(key)
  }

  /** Returns what a layer answered instead of the tool. */
  answerOfLayer(key: string): unknown {
    return this.#decisions.get(key)?.answer
  }

  /** The core rejects calls of unknown tools, and arguments that do not fit, without a decision of a layer. */
  #withoutDecision(key: string): RecordedOutcome {
    const status = this.#calls.get(key)?.status
    if (status === 'ok') return { outcome: 'allowed' }
    return { outcome: status === 'suspended' ? 'waiting' : 'denied' }
  }

  #add(step: RecordedStep): void {
    const { id, items = [], result, error } = step
    const key = keyOfStep(id)
    const name = id.slice(this.#turnId.length)
    if (name.includes(':once:')) this.#once.set(id, step)
    else if (/:tool:.+:\d+$/.test(name)) {
      this.#results.set(id, step)
      this.#last.set(key, step)
    } else if (/:model:\d+:\d+$/.test(name) && error === undefined) this.#answers.set(key, { items, finish: result })
  }
}

export function callKey(turnId: string, callId: string): string {
  return `${turnId}:tool:${callId}`
}

/** Returns the id of a step without its attempt. */
export function keyOfStep(id: string): string {
  return id.slice(0, id.lastIndexOf(':'))
}

/** Returns a recorded result of a call; undefined if it is no result. */
export function resultOf(recorded: unknown, callId: string): ToolResult | undefined {
  if (!isRecord(recorded)) return undefined
  const { content, status = 'ok' } = recorded
  const isResult = (typeof content === 'string' || Array.isArray(content)) && (status === 'ok' || status === 'error')
  return isResult ? ({ ...recorded, status, callId } as ToolResult) : undefined
}

function isFinal({ decision }: RecordedDecision): boolean {
  return decision !== 'retried' && decision !== 'recovered'
}
