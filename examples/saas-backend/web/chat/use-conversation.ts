import { useRef, useState } from 'react'
import { denials } from '../shared/denials.ts'
import { useTabValue } from '../shared/tab-value.ts'
import { steer, stop } from './control.ts'
import { lastSaid } from './history.ts'
import { openOutbox } from './outbox.ts'
import { type SyncedChatOptions, useSyncedChat } from './use-synced-chat.ts'

export type ConversationOptions = Pick<SyncedChatOptions, 'id' | 'stored' | 'revision' | 'changed'>
export type Conversation = ReturnType<typeof useConversation>

/** Returns a conversation and the actions of the user. */
export function useConversation(options: ConversationOptions) {
  const { id, stored } = options
  const [outbox] = useState(() => openOutbox(id, stored))
  const unsent = useTabValue(outbox)
  const [refusal, refuse] = useState<Error>()
  const notRead = () => refuse(new Error('The answer ended before it could read your message. Send it again.'))
  const { messages, status, error, busy, lost, ...chat } = useSyncedChat({ ...options, outbox, notRead })

  function begin(): void {
    refuse(undefined)
    chat.begin()
  }

  async function say(text: string): Promise<void> {
    begin()
    if (!busy) {
      outbox.send(text, messages)
      return chat.sendMessage({ text })
    }
    const message = outbox.steer(text, messages)
    await steer(id, message).catch((failure) => {
      outbox.returnSteer(message.id)
      refuse(failure)
    })
  }

  const retrying = useRef<Promise<void>>(undefined)
  /** A second click does not send the message twice. */
  function retry(): Promise<void> {
    retrying.current ??= sendAgain()
      .catch(refuse)
      .finally(() => {
        retrying.current = undefined
      })
    return retrying.current
  }

  /** Sends a lost message again, or repeats an unanswered one. */
  async function sendAgain(): Promise<void> {
    if (!outbox.get().hasFailed) return say(lastSaid(messages))
    await chat.refresh()
    const { draft, hasFailed } = outbox.get()
    if (hasFailed) await say(draft.trim())
  }

  function decide(approvalId: string, approved: boolean): void {
    begin()
    void chat.respond({ id: approvalId, approved, ...(!approved && { reason: denials.byOwner }) })
  }

  return {
    messages,
    status,
    busy,
    lost,
    unsent,
    problem: refusal ?? (lost ? undefined : error),
    say,
    decide,
    retry,
    stop: () => stop(id).catch(refuse),
    write: outbox.write,
    dismiss: begin,
  }
}
