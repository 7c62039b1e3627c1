import type { RunKey } from './event-log.ts'
import { checkStoreName } from './store-name.ts'

/** Returns a private copy of the key of a run. @throws AlliumError `store.key` */
export function checkRun({ key, turnId }: RunKey): RunKey {
  checkStoreName('tenant', key.tenant)
  checkStoreName('owner', key.owner)
  checkStoreName('agent of the session', key.agent)
  checkStoreName('session id', key.sessionId)
  return { key: { ...key }, turnId: checkStoreName('id of the turn', turnId) }
}
