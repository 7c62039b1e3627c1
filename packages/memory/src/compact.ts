import { defineMiddleware, type TypedMiddleware, withState } from '@allium/core'
import { type CompactOptions, resolveCompactOptions } from './compact-options.ts'
import { type CompactView, emptyView } from './compact-view.ts'
import { Compactor } from './compactor.ts'
import { Summariser } from './summariser.ts'

/** What has been compacted in the session. */
export type CompactState<Name extends string> = Record<`${Name}:view`, CompactView>

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
  const resolved = resolveCompactOptions(options)
  const { strategy, limit, keepSize: keep, as } = resolved
  const summariser = new Summariser(resolved)
  const compactor = new Compactor(resolved, summariser)

  const layer = defineMiddleware<Record<string, CompactView>>({
    name: as,
    options: { strategy, limit, keep },
    order: { is: ['shapes'], inside: ['redacts'] },
    reenters: true,
    state: { [`${as}:view`]: { default: emptyView } },
    model: (ctx, next) => compactor.run(ctx, next),
  })
  return [withState<CompactState<Name>>(layer), summariser.createLayer()]
}
