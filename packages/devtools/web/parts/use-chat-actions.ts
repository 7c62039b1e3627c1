import { useRef, useState } from 'preact/hooks'
import { api, type Identity } from '../store/api.ts'
import { identityOf, type PendingCall, type SessionItem } from '../store/sessions.ts'
import { changed, trace } from '../store/store.ts'
import { sessionKey } from '../store/trace.ts'
import type { TurnActions } from './turn-view.tsx'

interface ChatActionsOptions {
  item: SessionItem | undefined
  identity: Identity
  select(item: SessionItem): void
  inspect(turnId: string): void
  reload(): Promise<void>
}

/** The texts of messages that this page sent: steering messages by id, inputs by the id of their turn. */
const steers = new Map<string, string>()
const inputs = new Map<string, string>()

/** The requests of the chat, each as the principal of the session. */
export function useChatActions({ item, identity, select, inspect, reload }: ChatActionsOptions) {
  const [fault, setFault] = useState('')
  const owner = useRef(identity)
  owner.current = item === undefined ? identity : identityOf(item, trace.ofSession(keyOf(item)), identity)

  /** Shows the error of a request. A run that fails also has its error in its turn. */
  const report = async (work: () => Promise<unknown>) => {
    setFault('')
    try {
      await work()
    } catch (error) {
      setFault((error as Error).message)
    }
    changed()
  }
  const path = (id: string, action: string) => `/sessions/${encodeURIComponent(id)}/${action}`

  const run = (session: SessionItem, text: string, as: Identity) =>
    void report(() => api(path(session.id, 'runs'), as, { input: text })).then(reload)

  async function send(text: string): Promise<void> {
    const target = item ?? newSession(owner.current)
    if (item === undefined) select(target)
    run(target, text, owner.current)
  }

  async function decide({ callId, token }: PendingCall, decision: object): Promise<void> {
    if (item === undefined) return
    const decided = { ...decision, ...(token !== undefined && { token }) }
    void report(() => api(path(item.id, 'decisions'), owner.current, { decisions: { [callId]: decided } })).then(reload)
  }

  const steer = (text: string) => {
    const id = crypto.randomUUID()
    steers.set(id, text)
    return report(() => api(path(item?.id ?? '', 'steer'), owner.current, { message: text, id }))
  }
  const stop = () => report(() => api(path(item?.id ?? '', 'stop'), owner.current, {}))

  async function forkAt(turnId: string | undefined): Promise<SessionItem> {
    const target = { ...newSession(owner.current), tenant: item?.tenant ?? '', owner: item?.owner ?? '' }
    if (item === undefined || turnId === undefined) return target
    await api(path(item.id, 'fork'), owner.current, { id: target.id, at: turnId })
    return target
  }

  const actions: TurnActions = {
    fork: (turn) => report(async () => select(await forkAt(turn.turnId))),
    editAndRun: (turn, text) =>
      report(async () => {
        const target = await forkAt(turn.previous)
        select(target)
        run(target, text, owner.current)
      }),
    inspect,
    steerText: (id) => steers.get(id),
  }
  return { actions, send, steer, stop, decide, fault, inputs }
}

function newSession({ principal }: Identity): SessionItem {
  const { tenantId, tenant, userId, user } = principal as Record<string, string | undefined>
  const id = `dev-${new Date().toISOString().slice(5, 19).replace(/\D/g, '')}-${crypto.randomUUID().slice(0, 4)}`
  return { id, tenant: tenantId ?? tenant ?? '', owner: userId ?? user ?? '', status: 'new', updatedAt: Date.now() }
}

function keyOf(item: SessionItem): string {
  return sessionKey({ ...item, sessionId: item.id })
}
