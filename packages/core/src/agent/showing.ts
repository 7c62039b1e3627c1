import type { Layer } from '../middleware/middleware.ts'
import type { Show, ShowContext } from '../middleware/shows.ts'
import type { AgentScope } from '../rings/agent/agent-scope.ts'
import type { SessionKey } from '../seams/session-store.ts'

/** What all layers do to a stored text for its reader, inner ones first, as in the stream. */
export async function showing(
  layers: readonly Layer[],
  { setup, capabilities }: AgentScope,
  sessionKey: SessionKey,
): Promise<Show> {
  const find: ShowContext['find'] = (capability) => capabilities.find(capability)
  const ctx: ShowContext = { agent: { name: setup.name }, sessionKey, find }
  const shows: Show[] = []
  for (const { spec } of layers) {
    const show = await spec.shows?.(ctx)
    if (show !== undefined) shows.unshift(show)
  }
  return (text) => shows.reduce((shown, show) => show(shown), text)
}
