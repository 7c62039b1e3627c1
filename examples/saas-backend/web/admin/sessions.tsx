import { useState } from 'react'
import { OnionPicture } from './onion.tsx'
import { Panel, pathOf, timeOf } from './panel.tsx'

interface Session {
  key: { owner: string; sessionId: string }
  version: number
  status: string
  updatedAt: number
}
interface Turn {
  turnId: string
  status: string
  reason?: string
  startedAt: number
  endedAt?: number
  usage: { inputTokens: number; outputTokens: number }
}

/** The tenant's sessions; of one its turns, and of a turn its onion. */
export function Sessions({ tenant }: { tenant: string }) {
  const [open, setOpen] = useState<Session['key']>()
  return (
    <>
      <Panel<{ items: Session[] }>
        title="Sessions"
        path={pathOf(tenant, 'sessions')}
        empty={({ items }) => (items.length === 0 ? 'Nobody has asked anything yet.' : undefined)}
      >
        {({ items }) => (
          <ul className="rows">
            {items.map(({ key, version, status, updatedAt }) => (
              <li key={`${key.owner}/${key.sessionId}`}>
                <button
                  type="button"
                  className="row"
                  aria-pressed={open?.sessionId === key.sessionId && open.owner === key.owner}
                  onClick={() => setOpen(key)}
                >
                  <span>
                    <strong>{key.owner}</strong>{' '}
                    <span className="quiet">
                      {timeOf(updatedAt)}, {version} {version === 1 ? 'turn' : 'turns'}
                    </span>
                  </span>
                  <span className={`badge ${status}`}>{status}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {open && <Turns key={`${open.owner}/${open.sessionId}`} tenant={tenant} of={open} />}
    </>
  )
}

function Turns({ tenant, of }: { tenant: string; of: Session['key'] }) {
  const [open, setOpen] = useState<string>()
  const path = pathOf(tenant, 'sessions', of.owner, of.sessionId, 'turns')
  return (
    <Panel<{ turns: Turn[] }> title={`Turns of ${of.owner}`} path={path} wide>
      {({ turns }) => (
        <>
          <ul className="rows">
            {turns.map((turn) => (
              <li key={turn.turnId}>
                <button
                  type="button"
                  className="row"
                  aria-pressed={open === turn.turnId}
                  onClick={() => setOpen(turn.turnId)}
                >
                  <span>
                    <strong>{timeOf(turn.startedAt)}</strong>{' '}
                    <span className="quiet">
                      {turn.usage.inputTokens} tokens in, {turn.usage.outputTokens} out
                      {turn.reason && ` · ${turn.reason}`}
                    </span>
                  </span>
                  <span className={`badge ${turn.status}`}>{turn.status}</span>
                </button>
              </li>
            ))}
          </ul>
          {open && <OnionPicture key={open} path={`${path}/${encodeURIComponent(open)}/onion`} />}
        </>
      )}
    </Panel>
  )
}
