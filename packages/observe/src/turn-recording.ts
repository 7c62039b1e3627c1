import { type AgentEvents, messageOf, type TurnView } from '@allium/core'
import { isResumed } from '@allium/core/context'
import type { OnionTurn, SpanEvent } from './onion-turn.ts'
import { withoutSecrets } from './secrets.ts'
import type { Span } from './span.ts'

/** A turn that is being recorded. */
export class TurnRecording {
  readonly info: SpanEvent['turn']
  readonly now: () => number
  readonly started: number
  /** Only the layers that a sub-agent inherited are recorded, and not its own. */
  showsInherited = false
  /** The innermost span of the turn scope so far, which contains model and tool calls. */
  core: Span | undefined
  /** The outermost span. */
  #top: Span | undefined
  /** The outcome from the run, once it has ended. */
  #end: Pick<OnionTurn, 'status' | 'reason'> | undefined

  constructor(ctx: TurnView) {
    const { turnId, sessionId, turnIndex, agent, clock } = ctx
    this.info = { turnId, sessionId, turnIndex, agent: agent.name, resumed: isResumed(ctx) }
    this.now = () => clock.monotonic()
    this.started = this.now()
  }

  /** Adds a span inside another one; without `parent` it is the outermost. */
  add(span: Span, parent: Span | undefined): void {
    if (parent === undefined) this.#top = span
    else parent.children.push(span)
    if (span.scope === 'turn') this.core = span
  }

  /** With the outermost layer of the turn, only the data is kept. */
  closed(span: Span): void {
    if (span === this.#top) span.release()
  }

  /** Takes the outcome of the turn from the run, because only the run knows of a stop. */
  ended({ status, reason, error }: AgentEvents['turn:end']): void {
    const why = reason ?? (error === undefined ? undefined : messageOf(error))
    this.#end = { status, ...(why !== undefined && { reason: withoutSecrets(why) }) }
  }

  timeline(): OnionTurn | undefined {
    if (this.#top === undefined) return undefined
    const { resumed, ...info } = this.info
    const root = this.#top.toData(this.started, this.now())
    const end = this.#end ?? this.#top.status
    return { ...info, ...(resumed && { resumed }), ...end, duration: root.start + root.duration, root }
  }
}
