import { useState } from 'react'
import { Name } from '../shared/name.tsx'
import { usePanel } from './live.tsx'
import { OnionPicture } from './onion.tsx'
import { Panel, pathOf, timeOf } from './panel.tsx'
import type { SessionKey } from './sessions.tsx'

interface Turn {
  turnId: string
  /** The agent that answered. */
  agent: string
  status: string
  reason?: string
  code?: string
  startedAt: number
  usage: { inputTokens: number; outputTokens: number }
}

/** The newest turns of a session, and the onion of the selected one. */
export function Turns({ tenant, of }: { tenant: string; of: SessionKey }) {
  const [open, setOpen] = useState<string>()
  const path = pathOf(tenant, 'sessions', of.owner, of.sessionId, 'turns')
  return (
    <Panel<{ turns: Turn[] }>
      title={`Turns of ${of.owner}`}
      asked={usePanel(path)}
      wide
      isOpened
      empty={({ turns }) => (turns.length === 0 ? 'The first turn is still running.' : undefined)}
    >
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
                  <strong>{timeOf(turn.startedAt)}</strong>
                  <span className="quiet">
                    <Name of={turn.agent} />, {turn.usage.inputTokens} tokens in, {turn.usage.outputTokens} out
                  </span>
                  {isHandedOff(turn) ? (
                    <span className="badge">handed off</span>
                  ) : (
                    <>
                      <span className={`badge ${turn.status}`}>{turn.status}</span>
                      <Why turn={turn} />
                    </>
                  )}
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

/** Another agent continued with a turn of its own. */
function isHandedOff({ status, reason }: Turn): boolean {
  return status === 'stopped' && reason === 'handoff'
}

/** Explains why a turn did not complete, and how an admin can help. */
function Why({ turn: { status, reason, code } }: { turn: Turn }) {
  if (status === 'failed') return <span className="why">{failureOf(code ?? reason ?? '')}</span>
  if (reason === undefined) return null
  return (
    <span className="why">
      <Name of={reason} most={300} />
    </span>
  )
}

function failureOf(name: string): string {
  const known = failures.find(([pattern]) => pattern.test(name))
  return known?.[1] ?? 'The turn failed. See the error in the server log.'
}

/** By the error's code or name. */
const failures: readonly [RegExp, string][] = [
  [/timeout/i, 'It took too long. If this happens often, look for the slow layer below.'],
  [/^AI_|^model\./, 'The model provider did not answer. Check its status and the API key. The user can ask again.'],
  [
    /^store\./,
    'The database was not available. Check that it is running and that its disk is not full. The user can ask again.',
  ],
  [/^run\.interrupted/, 'Its process ended. The user can ask again.'],
]
