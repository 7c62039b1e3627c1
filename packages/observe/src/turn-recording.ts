import { messageOf, type RunEnd, type RunStatus, type TurnView } from '@allium/core'
import { isResumed } from '@allium/core/context'
import type { OnionTurn } from './onion-turn.ts'
import { withoutSecrets } from './secrets.ts'
import type { Span } from './span.ts'

/** A turn that is being recorded. */
export class TurnRecording {
  readonly turnId: string
  readonly sessionId: string
  readonly turnIndex: number
  readonly agent: string
  readonly resumed: boolean
  readonly now: () => number
  readonly started: number
  rootTurnId?: string
  /** Only the layers that a sub-agent inherited are recorded, and not its own. */
  showsInherited = false
  /** The innermost span of the turn scope so far, which contains model and tool calls. */
  core: Span | undefined
  /** The outermost span. */
  #top: Span | undefined
  /** The status from the run, once it has ended. */
  #status: RunStatus | undefined
  #reason: string | undefined

  constructor(ctx: TurnView) {
    const { turnId, sessionId, turnIndex, clock, agent } = ctx
    this.turnId = turnId
    this.sessionId = sessionId
    this.turnIndex = turnIndex
    this.agent = agent.name
    this.resumed = isResumed(ctx)
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
  ended({ status, reason, error }: Pick<RunEnd, 'status' | 'reason' | 'error'>): void {
    this.#status = status
    this.#reason = reason ?? (error === undefined ? undefined : messageOf(error))
  }

  timeline(): OnionTurn | undefined {
    if (this.#top === undefined) return undefined
    const { turnId, sessionId, turnIndex, agent, rootTurnId, resumed } = this
    const root = this.#top.toData(this.started, this.now())
    return {
      turnId,
      agent,
      ...(rootTurnId !== undefined && { rootTurnId }),
      ...(resumed && { resumed }),
      sessionId,
      turnIndex,
      ...this.#end(this.#top),
      duration: root.start + root.duration,
      root,
    }
  }

  #end(top: Span): Pick<OnionTurn, 'status' | 'reason'> {
    if (this.#status === undefined) return top.status
    const reason = this.#reason !== undefined && { reason: withoutSecrets(this.#reason) }
    return { status: this.#status, ...reason }
  }
}
