import type { SessionHistory } from '@allium/server/client'
import type { Question } from './approval-card.ts'

type Part = SessionHistory['messages'][number]['parts'][number]

/** Returns the text of a part; undefined for a part of another kind. */
export function textOf(part: Part): string | undefined {
  return part.type === 'text' ? String(part.text) : undefined
}

/** Returns the call that a part asks the user about; undefined for other parts. */
export function questionOf(part: Part): Question | undefined {
  if (part.state !== 'approval-requested') return undefined
  const { id: token } = part.approval as { id: string }
  return { callId: String(part.toolCallId), name: part.type.replace('tool-', ''), args: part.input, token }
}
