import { record } from '@allium/replay'
import type { RecordingStore } from '@allium/store'
import type { DevAgent } from './load-agent.ts'

/**
 * Records the turns of the inspector, so that the page can replay them. Not if a layer redacts, because a recording has the raw texts, and
 * not if the agent records by itself.
 */
export function recordTurns(agent: DevAgent, store: RecordingStore): void {
  const categories = agent.inspect().layers.flatMap(({ order }) => order.is ?? [])
  if (['redacts', 'records', 'recordsRaw'].some((name) => categories.includes(name))) return
  agent.use(record({ store, as: 'inspector:record' }) as never)
}
