import type { UIMessage } from 'ai'
import { type TabValue, tabValue } from '../shared/tab-value.ts'
import { type History, textOf, userCount } from './history.ts'

/** A message that the server has not confirmed yet. */
export interface Outgoing {
  id: string
  text: string
  /** How many messages of the user the conversation had before it. */
  before: number
}

interface Unsent {
  /** The text in the message box. */
  draft: string
  outgoing?: Outgoing | undefined
  /** The request of the outgoing message failed, so its text is in the draft again. */
  hasFailed?: boolean | undefined
  /** Messages that were sent during an answer. */
  steers: readonly Outgoing[]
}

export interface Outbox extends Pick<TabValue<Unsent>, 'get' | 'subscribe'> {
  write(draft: string): void
  send(text: string, messages: readonly UIMessage[]): void
  /** The server has received the outgoing message. */
  confirm(): void
  /** The outgoing message may not have arrived. */
  fail(): void
  steer(text: string, messages: readonly UIMessage[]): Outgoing
  /** Returns a message that the running turn did not read to the message box. Returns false if another tab sent it. */
  returnSteer(id: string): boolean
  /** Compares unconfirmed messages with those on the server. */
  settle(history: History): void
}

/** Stores the user's messages until the server confirms them, across failed requests and reloads. Lost messages return to the message box. */
export function openOutbox(chatId: string, stored: History): Outbox {
  const { get, set, subscribe } = tabValue<Unsent>(`outbox:${chatId}`, { draft: '', steers: [] })
  const change = (next: Partial<Unsent>) => set({ ...get(), ...next })
  const confirm = () => get().outgoing && change({ outgoing: undefined, hasFailed: false })

  function fail(): void {
    const { draft, outgoing, hasFailed } = get()
    if (outgoing !== undefined && !hasFailed) change({ draft: joined(outgoing.text, draft), hasFailed: true })
  }
  function returnSteer(id: string): boolean {
    const { draft, steers } = get()
    const steer = steers.find((one) => one.id === id)
    if (steer !== undefined) change({ draft: joined(steer.text, draft), steers: steers.filter((one) => one !== steer) })
    return steer !== undefined
  }
  function settle({ messages, running }: History): void {
    const { outgoing, hasFailed, draft, steers } = get()
    if (outgoing === undefined || !hasArrived(outgoing, messages)) fail()
    else {
      if (hasFailed && draft === outgoing.text) change({ draft: '' })
      confirm()
    }
    if (running) return
    for (const { id } of steers.filter((steer) => !hasArrived(steer, messages))) returnSteer(id)
    if (steers.length > 0) change({ steers: [] })
  }

  settle(stored)
  return {
    get,
    subscribe,
    confirm,
    fail,
    returnSteer,
    settle,
    write: (draft) => change({ draft }),
    send: (text, messages) => change({ draft: '', outgoing: toOutgoing(text, messages), hasFailed: false }),
    steer(text, messages) {
      const steer = toOutgoing(text, messages)
      change({ draft: '', steers: [...get().steers, steer] })
      return steer
    },
  }
}

function toOutgoing(text: string, messages: readonly UIMessage[]): Outgoing {
  return { id: crypto.randomUUID(), text, before: userCount(messages) }
}

function hasArrived({ text, before }: Outgoing, messages: readonly UIMessage[]): boolean {
  const said = messages.filter(({ role }) => role === 'user').map(textOf)
  return said.slice(before).includes(text)
}

function joined(returned: string, draft: string): string {
  return draft === '' || draft === returned ? returned : `${returned}\n${draft}`
}
