import type { Snapshot } from '@allium/core'
import type { Host } from '../host/host.ts'
import { storeFork } from '../native/fork.ts'
import { type Caller, keyOf } from '../request/caller.ts'

/**
 * Stores a session of the caller that begins with a snapshot from another store. Pending calls are closed.
 *
 * @throws AlliumError `session.busy`, `store.conflict` if the id is taken
 */
export async function storeCopy(host: Host, caller: Caller, id: string, snapshot: Snapshot): Promise<void> {
  const { agent, principal } = caller
  // Without an id, it loads nothing from the store.
  const source = agent.session({ principal: principal as never })
  await source.open()
  try {
    source.restore(snapshot)
    await storeFork(host, keyOf(caller, id), agent.name, source.fork({ id }).snapshot())
  } finally {
    await source.close()
  }
}
