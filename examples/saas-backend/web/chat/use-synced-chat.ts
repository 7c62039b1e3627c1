import { useChat } from '@ai-sdk/react'
import { DefaultChatTransport } from 'ai'
import { useCallback, useEffect, useRef } from 'react'
import { isConnectionLost } from '../shared/problems.ts'
import { areDecisionsComplete } from './decisions.ts'
import { type History, loadHistory, steerIn } from './history.ts'
import type { Outbox } from './outbox.ts'
import { useFollowing, useReconnect } from './use-following.ts'

export interface SyncedChatOptions {
  id: string
  stored: History
  /** Changes whenever the conversation changes on the server. */
  revision: string | undefined
  outbox: Outbox
  /** Called when this page has changed the conversation. */
  changed(): void
  /** Called if the turn ended before it read a message of this page. */
  notRead(): void
}

const transport = new DefaultChatTransport({ api: '/api/chat' })

/** `useChat`, synchronized with the server after errors, after lost connections, and after changes elsewhere. */
export function useSyncedChat({ id, stored, revision, outbox, changed, notRead }: SyncedChatOptions) {
  const { messages, status, error, ...chat } = useChat({
    id,
    messages: stored.messages,
    transport,
    throttle: 50,
    sendAutomaticallyWhen: areDecisionsComplete,
    onError: recover,
    onFinish({ isError }) {
      if (!isError) outbox.confirm()
      changed()
    },
    onData(part) {
      const steer = steerIn(part as Parameters<typeof steerIn>[0])
      if (steer?.delivered === false && outbox.returnSteer(steer.id)) notRead()
    },
  })
  const { setMessages, resumeStream, clearError } = chat
  const busy = status === 'submitted' || status === 'streaming'
  const lost = error !== undefined && isConnectionLost(error)
  const isBusy = useRef(busy)
  isBusy.current = busy
  /** Whether a history was requested before the user's last action, and so is outdated. */
  const actions = useRef(0)

  const refresh = useCallback(async () => {
    const before = actions.current
    const history = await loadHistory(id)
    if (isBusy.current || before !== actions.current) return
    outbox.settle(history)
    setMessages(history.messages)
    if (history.running) void resumeStream()
  }, [id, outbox, setMessages, resumeStream])

  useFollowing(revision, busy, refresh)
  useReconnect(lost, refresh, clearError)
  useEffect(() => {
    if (stored.running) void resumeStream()
  }, [stored, resumeStream])
  useEffect(() => {
    if (status !== 'streaming') return
    outbox.confirm()
    changed()
  }, [status, outbox, changed])

  /** Checks whether the server received a failed request. Without a connection, the text returns to the message box immediately. */
  function recover(failure: Error): void {
    if (!isConnectionLost(failure)) return void refresh().catch(outbox.fail)
    const isUnsent = outbox.get().outgoing !== undefined
    outbox.fail()
    if (isUnsent) setMessages((all) => (all.at(-1)?.role === 'user' ? all.slice(0, -1) : all))
  }

  return {
    messages,
    status,
    error,
    busy,
    lost,
    refresh,
    sendMessage: chat.sendMessage,
    respond: chat.addToolApprovalResponse,
    /** Call this before each action of the user. */
    begin(): void {
      actions.current++
      clearError()
    },
  }
}
