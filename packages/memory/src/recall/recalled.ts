import { AlliumError, capability } from '@allium/core'
import type { SearchContext, SearchSource } from '@allium/store'
import type { Recaller } from './recaller.ts'

/** What `memory.recall` provides to sources of `tools.search`. */
export const recallerOf = capability<Pick<Recaller, 'search'>>('memory:recaller')

/**
 * Earlier conversations of the same user, as a source of `tools.search`. It finds what `memory.recall` stores, with the options of that
 * layer.
 *
 * @example
 * agent.use(memory.recall({ tool: false })).use(tools.search({ in: [handbook, memory.recalled] }))
 */
export const recalled: SearchSource = {
  name: 'earlier conversations',
  check: (ctx) => void recallerIn(ctx),
  search: (question, ctx) => recallerIn(ctx).search(question, ctx),
}

function recallerIn(ctx: Pick<SearchContext, 'find'>) {
  const recaller = ctx.find(recallerOf)
  if (recaller !== undefined) return recaller
  throw new AlliumError(
    'layer.config',
    'The source memory.recalled finds what the layer memory.recall stores, but the agent has no such layer. Add it: agent.use(memory.recall({ tool: false })).',
  )
}
