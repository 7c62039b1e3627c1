import { useEffect, useReducer } from 'preact/hooks'
import { type Identity, identityHeaders } from './api.ts'
import { followFeed } from './feed.ts'
import { type AgentStatus, followJournal, type LogLine } from './journal.ts'
import type { SessionItem } from './sessions.ts'
import { sessionKey, Trace, type Turn } from './trace.ts'

/** The data of the page that arrives by itself. */
export const trace = new Trace()
export const live = {
  isConnected: false,
  /** Why the server rejects the requests of the page. */
  fault: undefined as string | undefined,
  /** The principal and the context of new sessions, as the user chose them. */
  chosen: undefined as Identity | undefined,
  status: { state: 'loading', at: 0 } as AgentStatus,
  logs: [] as LogLine[],
  /** When a report of evals last changed. */
  evalsAt: 0,
}

/** Returns the turns of a session that ran while the page was open. Sessions of the agent's own store run elsewhere. */
export function liveTurns(item: SessionItem): Turn[] {
  return item.isReadOnly === true ? [] : trace.ofSession(sessionKey({ ...item, sessionId: item.id }))
}

const developer = { userId: 'developer' }
const maxLogs = 20_000
/** Milliseconds between two renderings while records arrive. */
const interval = 100

const listeners = new Set<() => void>()
let timer: ReturnType<typeof setTimeout> | undefined

/** Renders the components that use the store, soon. */
export function changed(): void {
  if (timer !== undefined) return
  timer = setTimeout(() => {
    timer = undefined
    for (const listener of listeners) listener()
  }, interval)
}

/** Renders the component again when the store has changed. */
export function useStore(): void {
  const [, render] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const listener = () => render(undefined)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }, [])
}

/** Returns the identity of new sessions: the user's choice, else the principal that the agent's module exports. */
export function currentIdentity(): Identity {
  return live.chosen ?? { principal: live.status.principal ?? developer }
}

export function connect(): void {
  let isFollowing = false
  followJournal((entries, isFirst) => {
    if (isFirst) live.logs = []
    for (const entry of entries) {
      if (entry.type === 'line') live.logs.push(entry)
      else if (entry.type === 'evals') live.evalsAt = entry.at
      // A loading agent keeps its principal: the old process serves until the new one is ready.
      else live.status = entry.state === 'ready' ? entry : { ...live.status, ...entry }
    }
    if (live.logs.length > maxLogs) live.logs = live.logs.slice(-maxLogs)
    // The first request needs the principal that the agent's module exports.
    if (!isFollowing && live.status.agent !== undefined) {
      isFollowing = true
      follow()
    }
    changed()
  })
}

function follow(): void {
  followFeed({
    onRecord: (record) => trace.add(record),
    onRestart: () => trace.interrupt(),
    onSlice: changed,
    headers: () => identityHeaders(currentIdentity()),
    onConnection(isOpen, fault) {
      live.isConnected = isOpen
      live.fault = fault
      changed()
    },
  })
}
