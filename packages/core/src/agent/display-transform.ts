import type { DisplayContext, DisplayTransform, Layer } from '../middleware/middleware.ts'
import type { SessionKey } from '../ports/session-store.ts'
import type { AgentScope } from './scope/agent-scope.ts'

/** Combines the display transforms of all layers, inner ones first, as in the stream. */
export async function displayTransformOf(
  layers: readonly Layer[],
  { setup, capabilities }: AgentScope,
  sessionKey: SessionKey,
): Promise<DisplayTransform> {
  const find: DisplayContext['find'] = (capability) => capabilities.find(capability)
  const ctx: DisplayContext = { agent: { name: setup.name }, sessionKey, find }
  const transforms: DisplayTransform[] = []
  for (const { spec } of layers) {
    const transform = await spec.display?.(ctx)
    if (transform !== undefined) transforms.unshift(transform)
  }
  return (text) => transforms.reduce((shown, transform) => transform(shown), text)
}
