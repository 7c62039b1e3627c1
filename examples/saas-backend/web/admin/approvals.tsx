import { usePanel } from './live.tsx'
import { Panel, pathOf } from './panel.tsx'
import { Request } from './request.tsx'
import { nameOf, type SessionKey, type SessionList } from './sessions.tsx'

/** A pending call, without its arguments. */
export interface Waiting {
  key: SessionKey
  callId: string
  name: string
}
/** A pending call that the admin may decide, from the agent's API. */
export interface Decidable extends SessionKey {
  callId: string
  args: unknown
  token?: string
}

export interface ApprovalsProps {
  tenant: string
  isOwn: boolean
  /** The newest sessions, which know since when a call is pending. */
  sessions: SessionList['items']
  /** Shows the turns of a session. */
  show(key: SessionKey): void
}

/** The pending calls of a company. Admins decide those of the company that they belong to. */
export function Approvals({ tenant, isOwn, sessions, show }: ApprovalsProps) {
  const mine = usePanel<{ approvals: Decidable[] }>(isOwn ? '/api/approvals?limit=100' : undefined)
  const decidable = mine.state === 'ready' ? mine.value.approvals : []
  return (
    <Panel<{ items: Waiting[] }>
      title="Waiting for approval"
      asked={usePanel(pathOf(tenant, 'waiting'))}
      wide
      empty={({ items }) => (items.length === 0 ? 'No pending approvals.' : undefined)}
    >
      {({ items }) => (
        <ul className="rows">
          {items.map((call) => (
            <li key={JSON.stringify([call.key, call.callId])}>
              <Request
                call={call}
                since={sessions.find(({ key }) => nameOf(key) === nameOf(call.key))?.updatedAt}
                decidable={decidable.find((one) => isSame(one, call))}
                show={show}
              />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function isSame(one: Decidable, { key, callId }: Waiting): boolean {
  return one.owner === key.owner && one.sessionId === key.sessionId && one.callId === callId
}
