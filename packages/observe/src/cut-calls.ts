import { estimateInputTokens, type ModelContext, sessionKeyOf, type ToolContext, type TurnView } from '@allium/core'
import { isRecorded, isReplaying, rootTurnIdOf } from '@allium/core/context'

/** A model call of a run with a journal, noted before it begins. It has no content. */
export interface BegunCall {
  readonly call: string
  readonly agent: string
  readonly model: string
  /** An estimate. */
  readonly inputTokens: number
}

/**
 * Finds the model calls that lost processes of a run have begun and not ended. The journal keeps a list of all begun calls, of sub-agents
 * too, in the steps of the turn that has the layer. A rehearsal skips steps of `takeover/`, and finds none.
 */
export class CutCalls {
  readonly #ctx: TurnView
  /** The calls of earlier processes, by call. */
  readonly #begun = new Map<string, BegunCall[]>()

  private constructor(ctx: TurnView) {
    this.#ctx = ctx
  }

  /** Reads the list if the run was started before. */
  static async of(ctx: TurnView): Promise<CutCalls> {
    const calls = new CutCalls(ctx)
    if (isReplaying(ctx)) await calls.#append(null)
    return calls
  }

  /** Notes that a call begins. Returns the calls in its place that were cut. */
  async begin(ctx: ModelContext): Promise<readonly BegunCall[]> {
    const { model, request, agent, callIndex, attempt, turnId } = ctx
    const call = `${turnId}:${callIndex}:${attempt}`
    const wasRecorded = await isRecorded(ctx)
    if (!wasRecorded) await this.#append({ call, agent: agent.name, model, inputTokens: estimateInputTokens(request) })
    const earlier = this.#begun.get(call) ?? []
    this.#begun.delete(call)
    // The last one that began was recorded.
    return wasRecorded ? earlier.slice(0, -1) : earlier
  }

  /** The result of a tool call is replayed, with the records of the sub-agents that it ran. */
  replayed({ turnId, callId }: ToolContext): void {
    for (const call of this.#begun.keys()) if (call.startsWith(`${turnId}/${callId}:`)) this.#begun.delete(call)
  }

  /** Returns the calls that this process has not made again. */
  rest(): readonly BegunCall[] {
    return [...this.#begun.values()].flat()
  }

  /** Appends to the list. Reads what earlier processes have added, because the journal returns it for the same keys. */
  async #append(entry: BegunCall | null): Promise<void> {
    for (let isLive = false; !isLive; ) {
      const add = async () => {
        isLive = true
        return entry
      }
      const found: BegunCall | null | undefined = await this.#ctx.once('takeover/begun', add, { per: 'attempt' })
      if (found === undefined) return
      if (!isLive && found !== null) this.#begun.set(found.call, [...(this.#begun.get(found.call) ?? []), found])
    }
  }
}

/** Names the run of a layer. Calls of sub-agents belong to the run of their parent. */
export function runKeyOf(ctx: TurnView): string {
  return JSON.stringify([sessionKeyOf(ctx), rootTurnIdOf(ctx)])
}
