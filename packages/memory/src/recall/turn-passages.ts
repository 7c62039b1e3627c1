import type { FlowLabels, Message, StoredTurn } from '@allium/core'
import type { NewPassage } from '@allium/store'
import { blindTerms, passageText } from '@allium/store/passages'
import type { Language } from './language.ts'
import { messageTerms } from './terms.ts'

interface PassageOrigin {
  /** The user of the run. */
  readonly author: string
  /** How many messages the history had before the run. */
  readonly before: number
  /** The labels of the conversation at the end of the run. Undefined if nothing tracks them. */
  readonly labels: FlowLabels | undefined
}

/** How the terms of a text are made. */
interface TermMaker {
  /** The key of the owner. */
  readonly key: Uint8Array
  readonly language: Language
}

/** Returns the passages of a run: the texts of the user, and complete answers. A run that was blocked, failed or aborted has none. */
export function passagesOf(turn: StoredTurn, origin: PassageOrigin, maker: TermMaker): NewPassage[] {
  return recallable(turn).map(({ message, index }) => newPassage(turn, message, index, origin, maker))
}

/** Whether a run has anything to recall. */
export function hasPassages(turn: StoredTurn): boolean {
  return recallable(turn).length > 0
}

const recalledStatuses: readonly string[] = ['completed', 'stopped', 'suspended']

function recallable({ status, from, messages }: StoredTurn): { message: Message; index: number }[] {
  if (!recalledStatuses.includes(status)) return []
  return messages
    .map((message, i) => ({ message, index: from + i }))
    .filter(({ message }) => isRecallable(message) && passageText(message).trim() !== '')
}

/** Text beside tool calls announces them, and is no answer. */
function isRecallable({ role, content, interrupted }: Message): boolean {
  if (role === 'user') return true
  if (role !== 'assistant' || interrupted === true) return false
  return typeof content === 'string' || content.every(({ type }) => type !== 'tool-call')
}

function newPassage(
  turn: StoredTurn,
  message: Message,
  index: number,
  { author, before, labels }: PassageOrigin,
  { key, language }: TermMaker,
): NewPassage {
  const role = message.role as NewPassage['role']
  const at = role === 'user' ? turn.startedAt : (turn.endedAt ?? turn.startedAt)
  const counts = [...messageTerms(passageText(message), at, language)]
  const blind = blindTerms(
    key,
    counts.map(([term]) => term),
  )
  // Another person may have written a message from before the run, so it keeps no label, which makes it untrusted.
  const flow = role === 'assistant' ? labels : index < before ? undefined : (message.flow ?? {})
  return {
    index,
    role,
    author,
    at,
    terms: Object.fromEntries(counts.map(([, count], i) => [blind[i] as string, count])),
    words: counts.reduce((sum, [, count]) => sum + count, 0),
    ...(flow !== undefined && { flow }),
  }
}
