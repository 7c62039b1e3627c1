import type { CallTypes } from '@allium/core'
import type { ChatError } from './chat-error.ts'
import type { ChatMessage } from './chat-message.ts'
import type { ChatState, ChatStatus } from './chat-state.ts'
import type { SentDecisions } from './decisions.ts'
import type { Outbox } from './outbox.ts'
import type { Transcript } from './transcript.ts'
import { withItem } from './with-item.ts'

interface Sources {
  readonly transcript: Transcript
  readonly outbox: Outbox
  readonly decisions: readonly SentDecisions[]
  readonly status: ChatStatus
  readonly error: ChatError | undefined
}

/** Returns the state as components see it: unsent inputs follow the messages of the server. */
export function snapshotOf<K extends CallTypes>(sources: Sources): ChatState<K> {
  const { transcript, outbox, decisions, status, error } = sources
  const decided = new Set(decisions.flatMap((batch) => Object.keys(batch.decisions)))
  const sent = outbox.items.filter(({ mode, state }) => mode === 'queue' && state !== 'queued')
  const queue = outbox.items.filter(
    ({ mode, state }) => state === 'queued' || (mode === 'steer' && state === 'sending'),
  )
  const shown = sent.reduce<readonly ChatMessage[]>(
    (messages, item) =>
      withItem(messages, item, item.state === 'sending' && status !== 'failed' ? 'sending' : 'unsent'),
    transcript.messages.map((message) => withDeciding(message, decided)),
  )
  return {
    messages: shown as ChatMessage<K>[],
    status,
    pending: transcript.pending,
    queue: queue.map(({ id, input, mode }) => ({ id, input, mode })),
    draft: outbox.draft,
    error,
  }
}

function withDeciding(message: ChatMessage, decided: ReadonlySet<string>): ChatMessage {
  if (decided.size === 0) return message
  const isDeciding = (part: ChatMessage['parts'][number]) =>
    part.type === 'tool' && part.state === 'pending' && decided.has(part.callId)
  if (!message.parts.some(isDeciding)) return message
  const parts = message.parts.map((part) => (isDeciding(part) ? { ...part, state: 'deciding' as const } : part))
  return { ...message, parts: parts as ChatMessage['parts'] }
}
