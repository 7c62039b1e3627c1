import {
  defineMiddleware,
  type Message,
  type ModelContext,
  type ModelResponse,
  type NextFor,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { type CompactOptions, resolveCompactOptions } from './compact-options.ts'
import {
  type CompactView,
  type ConversationSize,
  clearResults,
  currentView,
  cutIndex,
  emptyView,
  newestInputBefore,
  replaceClearedResults,
  sizeOf,
  withDigest,
} from './compact-view.ts'
import { fromFirstUserMessage } from './message-units.ts'
import { type SummaryAttempt, summariser } from './summariser.ts'
import { summaryMessage } from './summary.ts'

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

/** What has been compacted in the session. */
export type CompactState<Name extends string> = Record<`${Name}:view`, CompactView>

type Ctx = ModelContext<Record<string, CompactView>>
type Conversation = readonly Readonly<Message>[]

/**
 * Keeps a long conversation within the model's context window: it clears old tool results and summarises older messages.
 * The history stays complete.
 *
 * Compaction is stored in the session's state. A summary is made once and extended later, and the request changes only when the
 * conversation has become too long again, so that prompt caches stay valid. It creates two layers. The summarising call runs
 * through all inner layers, so meters and budgets count it. If it fails, older messages are left out of that turn.
 *
 * @throws AlliumError `layer.config` for an invalid trigger, or when it would keep as much as the trigger allows
 * @example
 * agent.use(memory.compact({ trigger: { tokens: 60_000 }, model: 'anthropic/claude-haiku-4-5' }))
 */
export function compact<Name extends string = 'memory:compact'>(
  options: CompactOptions<Name> = {},
): readonly [TypedMiddleware<CompactState<Name>>, TypedMiddleware<{}>] {
  const plan = resolveCompactOptions(options)
  const { strategy, limit, keepSize: room, clearing, count, as } = plan
  const { begin, summarise, layer: summaryLayer } = summariser(plan)
  const key = `${as}:view`

  const layer = defineMiddleware<Record<string, CompactView>>({
    name: as,
    options: { strategy, limit, keep: room },
    order: { is: ['shapes'], inside: ['redacts'] },
    reenters: true,
    state: { [key]: { default: emptyView } },
    async model(ctx, next) {
      const attempt = begin(ctx)
      const { messages } = ctx.request
      const system = messages.filter(({ role }) => role === 'system')
      const conversation = messages.filter(({ role }) => role !== 'system')
      const view = await currentView(conversation, ctx.state[key] ?? emptyView)
      const sizeWith = (candidate: CompactView) =>
        sizeOf([...system, ...visibleMessages(conversation, candidate)], count)
      const before = view === emptyView ? sizeOf(messages, count) : sizeWith(view)
      const { view: compactedView, appliedStrategy } = exceedsLimit(before)
        ? await applyCompaction(ctx, next, attempt, { conversation, view, sizeWith })
        : { view, appliedStrategy: undefined }
      if (compactedView === emptyView) return next()
      if (appliedStrategy !== undefined) {
        const after = sizeWith(compactedView)
        const event: Compacted = { type: 'memory:compact', layer: as, strategy: appliedStrategy, before, after }
        attempt.deferredReports.push(() => ctx.emit({ ...event }))
      }
      ctx.messages = [...system.map((message) => ({ ...message })), ...visibleMessages(conversation, compactedView)]
      return next()
    },
  })
  return [withState<CompactState<Name>>(layer), summaryLayer]

  function exceedsLimit({ messages, tokens }: ConversationSize): boolean {
    return messages > limit.messages || tokens > limit.tokens
  }

  /** Returns the messages for the model: the summary, the input that was newest when it was made, and all later messages. */
  function visibleMessages(conversation: Conversation, { summary, input, covered, ...view }: CompactView): Message[] {
    const all = replaceClearedResults(conversation, view, clearing)
    const before = summary === '' ? [] : [summaryMessage(summary)]
    const kept = [...before, ...all.slice(input.from, input.to), ...all.slice(covered)]
    return covered === 0 ? kept : fromFirstUserMessage(kept)
  }

  async function applyCompaction(
    ctx: Ctx,
    next: NextFor<ModelResponse>,
    attempt: SummaryAttempt,
    {
      conversation,
      view: previousView,
      sizeWith,
    }: { conversation: Conversation; view: CompactView; sizeWith(view: CompactView): ConversationSize },
  ): Promise<{ view: CompactView; appliedStrategy: Compacted['strategy'] | undefined }> {
    const clearedView = withClearedResults(conversation, previousView, sizeWith)
    const covered = cutIndex(replaceClearedResults(conversation, clearedView, clearing), room, count)
    if (strategy === 'clear' || !exceedsLimit(sizeWith(clearedView)) || covered <= previousView.covered) {
      if (clearedView === previousView) return { view: previousView, appliedStrategy: undefined }
      return { view: (ctx.state[key] = await withDigest(conversation, clearedView)), appliedStrategy: 'clear' }
    }
    const view = {
      ...clearedView,
      covered,
      input: newestInputBefore(conversation, covered),
      seen: Math.max(clearedView.seen, covered),
    }
    const summary = await summarise(ctx, next, attempt, {
      before: previousView.summary,
      conversation: conversation.slice(previousView.covered, covered),
    })
    if (summary === undefined) return { view, appliedStrategy: 'truncate' }
    ctx.state[key] = await withDigest(conversation, { ...view, summary })
    return { view: ctx.state[key], appliedStrategy: clearedView === previousView ? 'summarise' : 'hybrid' }
  }

  /** Returns the view with old results cleared, if the strategy does that and it saves enough. */
  function withClearedResults(
    conversation: Conversation,
    view: CompactView,
    sizeWith: (view: CompactView) => ConversationSize,
  ): CompactView {
    const { tokens } = sizeWith(view)
    if (strategy === 'summarise' || (strategy === 'hybrid' && tokens <= limit.tokens)) return view
    const clearedView = clearResults(conversation, view, clearing)
    const savedTokens = tokens - sizeWith(clearedView).tokens
    return savedTokens > 0 && savedTokens >= clearing.atLeast ? clearedView : view
  }
}
