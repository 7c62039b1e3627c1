import { Panel, pathOf } from './panel.tsx'

interface Waiting {
  key: { owner: string; sessionId: string }
  callId: string
  name: string
  expiresAt?: number
}

/** What waits for somebody's decision. What exactly is to run only they see. */
export function Waiting({ tenant }: { tenant: string }) {
  return (
    <Panel<{ items: Waiting[] }>
      title="Waiting for approval"
      path={pathOf(tenant, 'waiting')}
      empty={({ items }) => (items.length === 0 ? 'Nothing waits.' : undefined)}
    >
      {({ items }) => (
        <ul className="rows">
          {items.map(({ key, callId, name }) => (
            <li key={`${key.sessionId}/${callId}`}>
              <span>
                <strong>{name}</strong> <span className="quiet">for {key.owner}</span>
              </span>
              <span className="badge waits">waits</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}
