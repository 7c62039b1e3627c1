import { Name } from '../shared/name.tsx'
import type { Asked } from '../shared/use-asked.ts'
import { Panel, timeOf } from './panel.tsx'
import { Turns } from './turns.tsx'

export interface SessionKey {
  owner: string
  sessionId: string
}
export interface SessionsProps {
  tenant: string
  asked: Asked<SessionList>
  /** The selected session. */
  open: SessionKey | undefined
  setOpen(key: SessionKey): void
}
export interface SessionList {
  items: { key: SessionKey; version: number; status: string; updatedAt: number }[]
}

/** The tenant's newest sessions, and the turns of the selected one. */
export function Sessions({ tenant, asked, open, setOpen }: SessionsProps) {
  return (
    <>
      <Panel<SessionList>
        title="Sessions"
        asked={asked}
        wide
        empty={({ items }) => (items.length === 0 ? 'No conversations yet.' : undefined)}
      >
        {({ items }) => (
          <ul className="rows">
            {items.map(({ key, version, status, updatedAt }) => (
              <li key={nameOf(key)}>
                <button
                  type="button"
                  className="row"
                  aria-pressed={open !== undefined && nameOf(open) === nameOf(key)}
                  onClick={() => setOpen(key)}
                >
                  <strong>
                    <Name of={key.owner} />
                  </strong>
                  <code className="quiet">
                    <Name of={key.sessionId.slice(0, 8)} />
                  </code>
                  <span className="quiet">
                    {timeOf(updatedAt)}, {version} {version === 1 ? 'turn' : 'turns'}
                  </span>
                  <span className={`badge ${status}`}>{status}</span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      {open && <Turns key={nameOf(open)} tenant={tenant} of={open} />}
    </>
  )
}

/** Returns a session key as one string. */
export function nameOf({ owner, sessionId }: SessionKey): string {
  return JSON.stringify([owner, sessionId])
}
