import type { PhysicalCall } from '../contexts/model.ts'
import { cleanUsage, noUsage, type Usage } from '../messages/usage.ts'
import { estimateInputTokens, estimateTokens, type Size } from '../model/estimate.ts'
import type { Model, ModelRequest, ModelServer } from '../model/model.ts'
import type { Attempt } from '../onion/attempt.ts'
import type { AttemptInTurn } from './attempt-in-turn.ts'
import { countCall, countTokens } from './effect-log.ts'

type Sized = { readonly size: Size }

/** A provider call that is counted once: for its layers, its turn and the turns of the parent agents. */
export class Counted implements PhysicalCall {
  readonly model: string
  readonly server: ModelServer | undefined
  usage: Usage = { ...noUsage(), calls: 1 }
  readonly #core: AttemptInTurn
  #open = true

  constructor(core: AttemptInTurn, { id, server }: Model) {
    this.#core = core
    this.model = id
    this.server = server
    countCall(core.$call.turn)
  }

  /** Whether the call was made inside this layer's `next()`. */
  isInside(layer: Attempt): boolean {
    let at: Attempt | undefined = this.#core
    while (at !== undefined && at !== layer) at = at.$caller
    return at === layer
  }

  /**
   * Ends the call and counts its usage.
   * @param reported the usage that the provider reported
   * @param streamed the streamed content; undefined if nothing arrived
   */
  close(reported: Partial<Usage> | undefined, streamed: Sized | undefined, sent: () => ModelRequest): void {
    if (!this.#open) return
    this.#open = false
    this.usage = usageOf(reported, streamed, sent)
    countTokens(this.#core.$call.turn, this.usage)
  }
}

/**
 * Returns the reported usage. A reported 0 for content that was sent or received is replaced with an estimate. A call
 * that got no usage report and no content costs nothing.
 */
function usageOf(reported: Partial<Usage> | undefined, streamed: Sized | undefined, sent: () => ModelRequest): Usage {
  const usage = cleanUsage(reported, 1)
  if (reported === undefined && streamed === undefined) return usage
  if (usage.inputTokens === 0) estimate(usage, 'inputTokens', estimateInputTokens(sent()))
  if (usage.outputTokens === 0 && streamed !== undefined) estimate(usage, 'outputTokens', estimateTokens(streamed.size))
  return usage
}

function estimate(usage: Usage, field: 'inputTokens' | 'outputTokens', tokens: number): void {
  if (tokens === 0) return
  usage[field] = tokens
  usage.estimated = true
}
