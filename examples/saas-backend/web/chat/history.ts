import type { UIMessage } from 'ai'
import { ask, type Refused } from '../shared/api.ts'

/** A conversation from the server. */
export interface History {
  messages: UIMessage[]
  /** Whether an answer is streaming. The rest of it is in the stream. */
  running: boolean
  /** Set if there are earlier messages. */
  before?: number
  /** The agent that answers now, if there are earlier messages. */
  agent?: string | undefined
}

export const emptyHistory: History = { messages: [], running: false }

/** @throws Refused */
export async function loadHistory(id: string): Promise<History> {
  const path = `/api/sessions/${encodeURIComponent(id)}`
  const history = await ask<History>(`${path}/messages`).catch((error: Refused) => {
    // A new conversation has no messages.
    if (error.status === 404) return emptyHistory
    throw error
  })
  if (history.before === undefined) return history
  // A handoff may be among the messages that are not loaded.
  const { state } = await ask<{ state: { 'tools:handoff'?: { agent: string } | null } }>(`${path}/state`)
  return { ...history, agent: state['tools:handoff']?.agent }
}

/** The text that the user wrote in a message. */
export function textOf({ parts }: UIMessage): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** The newest message of the user. */
export function lastSaid(messages: readonly UIMessage[]): string {
  const last = messages.findLast(({ role }) => role === 'user')
  return last === undefined ? '' : textOf(last)
}

/** How many messages of the user the agent has read. */
export function userCount(messages: readonly UIMessage[]): number {
  return messages.reduce((count, message) => count + readIn(message), 0)
}

function readIn({ role, parts }: UIMessage): number {
  return role === 'user' ? 1 : parts.filter((part) => steerIn(part)?.delivered === true).length
}

/** The outcome of a message that was sent during the answer; undefined for other parts. */
export function steerIn(part: UIMessage['parts'][number]): Steered | undefined {
  if (part.type !== 'data-steer') return undefined
  const { id = '', data } = part as { id?: string; data: { delivered?: boolean; text?: string } }
  return { id, delivered: data.delivered === true, text: data.text }
}

export interface Steered {
  id: string
  delivered: boolean
  /** Its text. The stream of the page that sent it does not repeat it. */
  text: string | undefined
}
