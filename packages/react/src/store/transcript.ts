import type { PendingCall } from '@allium/core'
import type { ClientEvent, SessionHistory } from '@allium/server/client'
import { applyEvent } from './apply-event.ts'
import type { ChatMessage, MessagePart, ToolPart } from './chat-message.ts'
import { fromHistory } from './from-history.ts'
import { inputText } from './input.ts'
import type { OutboxItem } from './outbox.ts'
import { withItem } from './with-item.ts'

/** The messages that the server has, and the pending calls. */
export class Transcript {
  messages: readonly ChatMessage[] = []
  pending: readonly PendingCall[] = []
  /** The parts of the answer that precede the current model call. */
  #keptParts = 0

  load(history: SessionHistory): void {
    const messages = fromHistory(history)
    this.messages = history.running ? messages : messages.map(withClientCalls)
    const calls = this.messages.flatMap(({ parts }) => parts.flatMap((part) => ('call' in part ? [part.call] : [])))
    this.pending = history.running ? [] : calls.filter((call) => call !== undefined)
  }

  /** Adds an input that the server has accepted. An edit takes the place of its message and everything after it. */
  addItem(item: OutboxItem): void {
    if (item.messageId !== undefined) this.pending = []
    this.messages = withItem(this.messages, item, 'done')
  }

  /** Replaces pending calls with the same ones as a run sent them, which also have the reason of the request. */
  describePending(sent: readonly PendingCall[]): void {
    this.pending = this.pending.map((call) => sent.find(({ callId }) => callId === call.callId) ?? call)
  }

  removePending(callIds: readonly string[]): void {
    this.pending = this.pending.filter(({ callId }) => !callIds.includes(callId))
  }

  /** Applies an event of a run. `steerText` returns the text of a message that was sent to the run. */
  apply(event: ClientEvent, steerText: (id: string) => string): void {
    if ('path' in event && event.path !== undefined) return
    if (event.type === 'turn:start') this.#begin(event.turnId, event.resumes !== undefined)
    if (event.type === 'turn:end') this.pending = event.pending ?? []
    const answer = this.messages.at(-1)
    if (answer?.role !== 'assistant') return
    if (event.type === 'step:start') this.#keptParts = answer.parts.length
    if (event.type === 'model:reset') this.#replaceAnswer({ ...answer, parts: answer.parts.slice(0, this.#keptParts) })
    else this.#replaceAnswer(applyEvent(answer, event, steerText))
  }

  /** Marks the answer as failed. */
  fail(): void {
    const answer = this.messages.at(-1)
    if (answer?.role === 'assistant' && answer.status !== 'suspended')
      this.#replaceAnswer({ ...answer, status: 'failed' })
  }

  /** Returns the ids of messages that were delivered to a run. */
  get steers(): readonly string[] {
    return this.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'steer' ? [part.id] : [])))
  }

  /** Returns whether the server has stored an input. The message that an edit replaces has another text. */
  hasStored({ id, input, messageId }: OutboxItem): boolean {
    const message = this.messages.find((candidate) => candidate.id === (messageId ?? id))
    if (message === undefined || messageId === undefined) return message !== undefined
    return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') === inputText(input)
  }

  /** A resumed run continues its answer. A run that is read again replaces it. */
  #begin(turnId: string, resumes: boolean): void {
    const last = this.messages.at(-1)
    this.#keptParts = 0
    if (last?.role === 'assistant' && resumes) return this.#replaceAnswer({ ...last, status: 'streaming' })
    const others = last?.id === turnId ? this.messages.slice(0, -1) : this.messages
    this.messages = [...others, { id: turnId, role: 'assistant', status: 'streaming', parts: [] }]
  }

  #replaceAnswer(answer: ChatMessage): void {
    this.messages = [...this.messages.slice(0, -1), answer]
  }
}

/** When no run is active, a call without a result waits for one from the page. */
function withClientCalls(message: ChatMessage): ChatMessage {
  const isOpen = (part: MessagePart): part is ToolPart => part.type === 'tool' && part.state === 'running'
  if (!message.parts.some(isOpen)) return message
  const parts = message.parts.map((part) => {
    if (!isOpen(part)) return part
    const { callId, name, args = {} } = part
    return { ...part, state: 'pending' as const, call: { callId, name, args, client: true as const } }
  })
  return { ...message, status: 'suspended', parts }
}
