import type { RecordedStep } from '../recorded-turn.ts'

const call = /^(.*):(model:\d+|tool:.+):(\d+)$/s

/** The recorded steps of a turn, by id. */
export class RecordedSteps {
  readonly list: readonly RecordedStep[]
  readonly #places = new Map<string, number>()
  readonly #turns = new Set<string>()

  /** @param run the id of the run */
  constructor(list: readonly RecordedStep[], run: string) {
    this.list = list
    for (const [at, { id }] of list.entries()) {
      if (!this.#places.has(id)) this.#places.set(id, at)
      this.#turns.add(nameOf(id, run).turnId)
    }
  }

  /** The position of a step in the order in which the steps ended; undefined if it is not recorded. */
  placeOf(id: string): number | undefined {
    return this.#places.get(id)
  }

  /** Whether a call of a tool ran a sub-agent. Ids of its turn begin with `<turn>/<callId>`. */
  hasInside(turnId: string, callId: string): boolean {
    const prefix = `${turnId}/${callId}`
    for (const turn of this.#turns)
      if (turn.startsWith(prefix) && (turn[prefix.length] === ':' || turn[prefix.length] === '/')) return true
    return false
  }
}

/** What a step id names. */
export interface StepName {
  readonly kind: 'model' | 'tool' | 'once' | 'other'
  /** The turn of the step, those of sub-agents included. */
  readonly turnId: string
}

const once = /^(.*?):once:/s

/**
 * Splits the id of a step. Clients choose the id of a run, and keys of `once()` may contain anything, so both are skipped.
 *
 * @param run the id of the run, with which the ids of its steps begin
 */
export function nameOf(id: string, run: string): StepName {
  const rest = id.slice(run.length)
  const key = once.exec(rest)
  if (key !== null) return { kind: 'once', turnId: run + key[1] }
  const [, inner, what] = call.exec(rest) ?? []
  if (inner === undefined) return { kind: 'other', turnId: run }
  return { kind: what?.startsWith('model:') === true ? 'model' : 'tool', turnId: run + inner }
}
