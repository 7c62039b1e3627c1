import { AlliumError, type SessionKey } from '@allium/core'
import { checkStoreName as checkName } from '@allium/store'

export { checkOwner, checkStoreName as checkName } from '@allium/store'

/** @throws AlliumError `store.key` when a database would truncate the key or confuse it with another */
export function checkKey<T extends SessionKey>(key: T): T {
  checkName('tenant', key.tenant)
  checkName('owner', key.owner)
  checkAgent(key.agent)
  checkName('session id', key.sessionId)
  return key
}

/** A session without the name of an agent could not be found by it. @throws AlliumError `store.key` */
function checkAgent(agent: string): void {
  if (checkName('agent of the session', agent) !== '') return
  throw new AlliumError(
    'store.key',
    'The agent of the session key is empty. Pass the name under which the agent stores its sessions, as session.key does.',
    { details: { what: 'agent of the session' } },
  )
}
