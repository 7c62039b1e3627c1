import type { ModelContext, ModelResponse, NextFor } from '@allium/core'
import type { ResolvedCompactOptions } from './compact-options.ts'
import { type CompactView, type ConversationSize, currentView, emptyView, withDigest } from './compact-view.ts'
import { Conversation } from './conversation.ts'
import type { Summariser, SummaryAttempt } from './summariser.ts'

/** A conversation was shortened for the model; the history is unchanged. */
export interface Compacted {
  type: 'memory:compact'
  layer: string
  /** The strategy that was applied; `truncate` if summarising failed. */
  strategy: 'clear' | 'summarise' | 'hybrid' | 'truncate'
  before: ConversationSize
  after: ConversationSize
}

declare module '@allium/core' {
  interface AgentEvents {
    'memory:compact': Compacted
  }
}

type Ctx = ModelContext<Record<string, CompactView>>

/** A model call of the layer. */
interface Call {
  readonly ctx: Ctx
  readonly next: NextFor<ModelResponse>
  readonly attempt: SummaryAttempt
}

interface Compaction {
  readonly view: CompactView
  /** Undefined if nothing was compacted. */
  readonly strategy?: Compacted['strategy']
}

/** Compacts the conversations of model calls, and keeps their views in the session's state. */
export class Compactor {
  readonly #options: ResolvedCompactOptions<string>
  readonly #summariser: Summariser
  readonly #key: string

  constructor(options: ResolvedCompactOptions<string>, summariser: Summariser) {
    this.#options = options
    this.#summariser = summariser
    this.#key = `${options.as}:view`
  }

  /** Calls the model with a conversation that fits. */
  async run(ctx: Ctx, next: NextFor<ModelResponse>): Promise<ModelResponse> {
    const attempt = this.#summariser.begin(ctx)
    const conversation = new Conversation(ctx.request.messages, this.#options)
    const before = await currentView(conversation.messages, ctx.state[this.#key] ?? emptyView)
    const { view, strategy } = conversation.isTooLong(before)
      ? await this.#compact({ ctx, next, attempt }, conversation, before)
      : { view: before }
    ctx.metadata['memory:compacted'] = view !== emptyView
    if (view === emptyView) return next()
    if (strategy !== undefined) {
      const sizes = { before: conversation.sizeThrough(before), after: conversation.sizeThrough(view) }
      const event: Compacted = { type: 'memory:compact', layer: this.#options.as, strategy, ...sizes }
      attempt.deferredReports.push(() => ctx.emit({ ...event }))
    }
    ctx.messages = conversation.through(view)
    return next()
  }

  /** Clears old results. If that is not enough, summarises older messages; without a summary they are left out of this call. */
  async #compact(call: Call, conversation: Conversation, before: CompactView): Promise<Compaction> {
    const { ctx, next, attempt } = call
    const cleared = conversation.withClearedResults(before)
    const covering = conversation.withOlderCovered(cleared)
    if (covering === undefined) {
      if (cleared === before) return { view: before }
      return { view: await this.#store(ctx, conversation, cleared), strategy: 'clear' }
    }
    const summary = await this.#summariser.summarise(ctx, next, attempt, {
      before: before.summary,
      conversation: conversation.messages.slice(before.covered, covering.covered),
    })
    if (summary === undefined) return { view: covering, strategy: 'truncate' }
    const view = await this.#store(ctx, conversation, { ...covering, summary })
    return { view, strategy: cleared === before ? 'summarise' : 'hybrid' }
  }

  async #store(ctx: Ctx, { messages }: Conversation, view: CompactView): Promise<CompactView> {
    const stored = await withDigest(messages, view)
    ctx.state[this.#key] = stored
    return stored
  }
}
