import type { RecordedDecision } from '../recorded-turn.ts'

/** What was decided, without who did. */
export type Decision = Pick<RecordedDecision, 'decision' | 'reason' | 'answer'>

/** A decision in a list. */
interface Listed extends Pick<RecordedDecision, 'turnId' | 'layer' | 'scope' | 'call' | 'decision'> {}

/** The decisions of a turn, in order. Of those that ended a tool call for good, only the first is listed. */
export class DecisionList<D extends Listed> {
  #list: D[] = []
  /** By tool call: the layer whose hook returned last. */
  readonly #returned = new Map<string, string | undefined>()

  get items(): readonly D[] {
    return this.#list
  }

  add(decision: D): void {
    const { layer } = decision
    if (isFinal(decision)) {
      const ofCall = this.#list.filter((one) => isSameCall(one, decision))
      // Layers outside see the same denial again.
      if (ofCall.some(isFinal)) return
      // It denied the call and returned an answer that nobody gets.
      const skip = ofCall.find((one) => one.layer === layer && one.decision === 'skipped')
      if (skip !== undefined) this.#list = this.#list.filter((one) => one !== skip)
    }
    this.#list.push(decision)
  }

  /** A hook of a tool call has returned. */
  returned(call: Pick<Listed, 'turnId' | 'call' | 'layer'>): void {
    this.#returned.set(keyOf(call), call.layer)
  }

  /** Returns the outermost layer of a tool call. No layer outside has seen what it made of the call. */
  outermost(call: Pick<Listed, 'turnId' | 'call'>): string | undefined {
    return this.#returned.get(keyOf(call))
  }
}

function keyOf({ turnId, call }: Pick<Listed, 'turnId' | 'call'>): string {
  return `${turnId}\n${call}`
}

function isSameCall(a: Listed, b: Listed): boolean {
  return a.scope === 'tool' && b.scope === 'tool' && a.call === b.call && a.turnId === b.turnId
}

function isFinal({ decision }: Listed): boolean {
  return decision === 'denied' || decision === 'suspended'
}
