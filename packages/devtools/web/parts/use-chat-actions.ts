import { useRef, useState } from 'preact/hooks'
import { api, type Identity } from '../store/api.ts'
import { type Attachment, inputOf, shownName } from '../store/attachments.ts'
import { attachmentsOf, keepSent, type LoadFile } from '../store/files.ts'
import { copySession, identityOf, ownerOf, type PendingCall, type SessionItem } from '../store/sessions.ts'
import { changed, live, liveTurns } from '../store/store.ts'
import type { ChatTurn } from './chat-turns.ts'
import type { TurnActions } from './turn-view.tsx'

interface ChatActionsOptions {
  item: SessionItem | undefined
  identity: Identity
  load: LoadFile
  select(item: SessionItem): void
  inspect(turnId: string): void
  replay(turnId: string): void
  saveCase(turn: ChatTurn): void
  reload(): Promise<void>
}

/** The texts of the steering messages that this page sent, by id. */
const steers = new Map<string, string>()

export type ChatActions = ReturnType<typeof useChatActions>

/** The requests of the chat, each as the principal of the session. */
export function useChatActions({
  item,
  identity,
  load,
  select,
  inspect,
  replay,
  saveCase,
  reload,
}: ChatActionsOptions) {
  const [fault, setFault] = useState('')
  const owner = useRef(identity)
  owner.current = item === undefined ? identity : identityOf(item, liveTurns(item), identity)

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

  const run = (session: SessionItem, text: string, files: readonly Attachment[], as: Identity) =>
    void report(async () => {
      await keepSent(files)
      await api(path(session.id, 'runs'), as, { input: inputOf(text, files) })
    }).then(reload)

  async function send(text: string, files: readonly Attachment[]): Promise<void> {
    const target = item ?? newSession(owner.current)
    if (item === undefined) select(target)
    run(target, text, files, owner.current)
  }

  async function decide({ callId, token }: PendingCall, decision: object): Promise<void> {
    if (item === undefined) return
    const decided = { ...decision, ...(token !== undefined && { token }) }
    void report(() => api(path(item.id, 'decisions'), owner.current, { decisions: { [callId]: decided } })).then(reload)
  }

  const steer = (text: string, files: readonly Attachment[]) => {
    const id = crypto.randomUUID()
    steers.set(id, [text, ...files.map(({ name }) => `[${shownName(name)}]`)].join(' '))
    return report(() => api(path(item?.id ?? '', 'steer'), owner.current, { message: inputOf(text, files), id }))
  }
  const stop = () => report(() => api(path(item?.id ?? '', 'stop'), owner.current, {}))

  async function forkAt(turnId: string | undefined): Promise<SessionItem> {
    if (item?.isReadOnly === true) {
      const copy = newSession(owner.current)
      if (turnId !== undefined) await copySession(item, owner.current, { id: copy.id, at: turnId })
      return copy
    }
    const target = { ...newSession(owner.current), tenant: item?.tenant ?? '', owner: item?.owner ?? '' }
    if (item === undefined || turnId === undefined) return target
    await api(path(item.id, 'fork'), owner.current, { id: target.id, at: turnId })
    return target
  }

  const actions: TurnActions = {
    fork: (turn) => report(async () => select(await forkAt(turn.turnId))),
    editAndRun: (turn, text) =>
      report(async () => {
        const files = await attachmentsOf(turn.files, load)
        const target = await forkAt(turn.previous)
        select(target)
        run(target, text, files, owner.current)
      }),
    canFork: item?.isReadOnly !== true || live.status.readOnly?.copies === true,
    inspect,
    ...(item?.isReadOnly !== true && { replay, saveCase }),
    steerText: (id) => steers.get(id),
  }
  return { owner: owner.current, actions, send, steer, stop, decide, fault }
}

function newSession({ principal }: Identity): SessionItem {
  const id = `dev-${new Date().toISOString().slice(5, 19).replace(/\D/g, '')}-${crypto.randomUUID().slice(0, 4)}`
  return { id, ...ownerOf(principal), status: 'new', updatedAt: Date.now() }
}
