import { cleanUsage, noUsage, type Usage } from '../../messages/usage.ts'
import { estimateInputTokens, estimateTokens, type Size } from '../../model/estimate.ts'
import type { Model, ModelRequest } from '../../model/model.ts'
import type { Attempt } from '../../onion/attempt.ts'
import type { Turn } from '../turn/turn.ts'

/** One call of a provider's `stream()`: which model, and what it used. Until it is closed, that is the call alone. */
export interface PhysicalCall {
  /** The id of the model. */
  readonly model: string
  readonly usage: Readonly<Usage>
}

/** A physical call from its begin to its end, which is counted once: for its layers, its turn, and those of the agents above. */
export class Counted implements PhysicalCall {
  readonly model: string
  usage: Usage = { ...noUsage(), calls: 1 }
  readonly #core: Attempt
  readonly #turn: Turn
  #open = true

  constructor(core: Attempt, turn: Turn, { id }: Model) {
    this.#core = core
    this.#turn = turn
    this.model = id
    turn.countCall()
  }

  /** Whether it was made inside what a layer's `next()` opened. */
  isInside(layer: Attempt): boolean {
    let at: Attempt | undefined = this.#core
    while (at !== undefined && at !== layer) at = at.$caller
    return at === layer
  }

  /**
   * It is over.
   * @param reported what the provider has said of its usage
   * @param streamed what it has streamed; undefined where nothing came
   */
  close(reported: Partial<Usage> | undefined, streamed: Size | undefined, sent: () => ModelRequest): void {
    if (!this.#open) return
    this.#open = false
    this.usage = usageOf(reported, streamed, sent)
    this.#turn.count(this.usage)
  }
}

/** What is told counts; a 0 where something was sent or said is none. A call to which nothing came costs nothing. */
function usageOf(reported: Partial<Usage> | undefined, streamed: Size | undefined, sent: () => ModelRequest): Usage {
  const usage = cleanUsage(reported, 1)
  if (reported === undefined && streamed === undefined) return usage
  if (usage.inputTokens === 0) estimate(usage, 'inputTokens', estimateInputTokens(sent()))
  if (usage.outputTokens === 0 && streamed !== undefined) estimate(usage, 'outputTokens', estimateTokens(streamed))
  return usage
}

function estimate(usage: Usage, field: 'inputTokens' | 'outputTokens', tokens: number): void {
  if (tokens === 0) return
  usage[field] = tokens
  usage.estimated = true
}
