import {
  defineMiddleware,
  type Message,
  type ModelContext,
  type ModelResponse,
  type NextFor,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { type CompactOptions, planOf } from './compact-options.ts'
import {
  type CompactView,
  type ConversationSize,
  cleared,
  cutAt,
  inputBefore,
  nothingCompacted,
  sealed,
  sizeOf,
  viewOf,
  withoutCleared,
} from './compact-view.ts'
import { type Asking, summariser } from './summariser.ts'
import { summaryMessage } from './summary.ts'
import { fromUser } from './units.ts'

/** A conversation was made shorter for the model; the history is as it was. */
export interface Compacted {
  type: 'memory:compact'
  layer: string
  /** What was done; `truncate` where summarising failed. */
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
type Talk = readonly Readonly<Message>[]

/**
 * Keeps a long conversation within the model's window: old tool results are cleared, older messages become a summary.
 * The history stays whole.
 *
 * What was compacted stays so, in the session's state: a summary is made once and extended later, and what is sent
 * changes only when the conversation has become too long again, so that prompt caches hold. It makes two layers; the
 * summarising call passes all layers inside of them, so meters and budgets count it. Where it fails, older messages are
 * left out of that turn.
 *
 * @throws AlliumError `layer.config` for a trigger that is none, or for keeping as much as triggers
 * @example
 * agent.use(memory.compact({ trigger: { tokens: 60_000 }, model: 'anthropic/claude-haiku-4-5' }))
 */
export function compact<Name extends string = 'memory:compact'>(
  options: CompactOptions<Name> = {},
): readonly [TypedMiddleware<CompactState<Name>>, TypedMiddleware<{}>] {
  const plan = planOf(options)
  const { strategy, limit, room, clearing, count, as } = plan
  const { begin, summarise, layer: ofSummaries } = summariser(plan)
  const key = `${as}:view`

  const layer = defineMiddleware<Record<string, CompactView>>({
    name: as,
    order: { is: ['shapes'], inside: ['redacts'] },
    reenters: true,
    state: { [key]: { default: nothingCompacted } },
    async model(ctx, next) {
      const asking = begin(ctx)
      const { messages } = ctx.request
      const system = messages.filter(({ role }) => role === 'system')
      const talk = messages.filter(({ role }) => role !== 'system')
      const view = await viewOf(talk, ctx.state[key] ?? nothingCompacted)
      const sizeWith = (view: CompactView) => sizeOf([...system, ...shown(talk, view)], count)
      const before = view === nothingCompacted ? sizeOf(messages, count) : sizeWith(view)
      const { view: made, done } = isOver(before)
        ? await compacted(ctx, next, asking, { talk, view, sizeWith })
        : { view, done: undefined }
      if (made === nothingCompacted) return next()
      if (done !== undefined) {
        const after = sizeWith(made)
        const told: Compacted = { type: 'memory:compact', layer: as, strategy: done, before, after }
        asking.toTell.push(() => ctx.emit({ ...told }))
      }
      ctx.messages = [...system.map((message) => ({ ...message })), ...shown(talk, made)]
      return next()
    },
  })
  return [withState<CompactState<Name>>(layer), ofSummaries]

  function isOver({ messages, tokens }: ConversationSize): boolean {
    return messages > limit.messages || tokens > limit.tokens
  }

  /** What the model is sent of a conversation: the summary, the input that was newest when it was made, what came since. */
  function shown(talk: Talk, { summary, input, covered, ...view }: CompactView): Message[] {
    const all = withoutCleared(talk, view, clearing)
    const before = summary === '' ? [] : [summaryMessage(summary)]
    const kept = [...before, ...all.slice(input.from, input.to), ...all.slice(covered)]
    return covered === 0 ? kept : fromUser(kept)
  }

  async function compacted(
    ctx: Ctx,
    next: NextFor<ModelResponse>,
    asking: Asking,
    { talk, view: old, sizeWith }: { talk: Talk; view: CompactView; sizeWith(view: CompactView): ConversationSize },
  ): Promise<{ view: CompactView; done: Compacted['strategy'] | undefined }> {
    const less = clearedOf(talk, old, sizeWith)
    const covered = cutAt(withoutCleared(talk, less, clearing), room, count)
    if (strategy === 'clear' || !isOver(sizeWith(less)) || covered <= old.covered) {
      if (less === old) return { view: old, done: undefined }
      return { view: (ctx.state[key] = await sealed(talk, less)), done: 'clear' }
    }
    const view = { ...less, covered, input: inputBefore(talk, covered), seen: Math.max(less.seen, covered) }
    const summary = await summarise(ctx, next, asking, { before: old.summary, talk: talk.slice(old.covered, covered) })
    if (summary === undefined) return { view, done: 'truncate' }
    ctx.state[key] = await sealed(talk, { ...view, summary })
    return { view: ctx.state[key], done: less === old ? 'summarise' : 'hybrid' }
  }

  /** The view with old results cleared, where that is wanted and saves enough. */
  function clearedOf(talk: Talk, view: CompactView, sizeWith: (view: CompactView) => ConversationSize): CompactView {
    const { tokens } = sizeWith(view)
    if (strategy === 'summarise' || (strategy === 'hybrid' && tokens <= limit.tokens)) return view
    const less = cleared(talk, view, clearing)
    const saved = tokens - sizeWith(less).tokens
    return saved > 0 && saved >= clearing.atLeast ? less : view
  }
}
