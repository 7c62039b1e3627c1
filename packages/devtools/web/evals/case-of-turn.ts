import type { ChatTurn } from '../parts/chat-turns.ts'
import type { Identity } from '../store/api.ts'
import { type Attachment, inputOf } from '../store/attachments.ts'

/** A case as a line of `evals/saved.cases.jsonl` has it. */
export interface SavedCase {
  id: string
  input: unknown
  expected?: string
  tags?: string[]
  principal?: unknown
  context?: unknown
}

export interface CaseFields {
  id: string
  /** An empty text is left out. */
  expected: string
  /** Separated by commas. */
  tags: string
  /** The turns before it whose texts the case has, oldest first. */
  earlier: readonly ChatTurn[]
  files: readonly Attachment[]
}

/** Returns the case that asks the agent what this turn asked, as the same principal and with the same context. */
export function caseOf(turn: ChatTurn, { principal, context }: Identity, fields: CaseFields): SavedCase {
  const { id, expected, earlier, files } = fields
  const tags = fields.tags.split(',').flatMap((tag) => tag.trim() || [])
  const content = inputOf(turn.input ?? '', files)
  const message = { role: 'user', content }
  const before = earlier.flatMap(messagesOf)
  return {
    id: id.trim(),
    input: before.length > 0 ? [...before, message] : typeof content === 'string' ? content : message,
    ...(expected.trim() !== '' && { expected }),
    ...(tags.length > 0 && { tags }),
    ...(principal !== undefined && { principal }),
    ...(context !== undefined && { context }),
  }
}

export function earlierThan(turn: ChatTurn, turns: readonly ChatTurn[]): readonly ChatTurn[] {
  return turns.slice(0, Math.max(0, indexIn(turns, turn)))
}

/** Returns the text of the answer, also if the turn waited for an approval: then it is in a turn that resumed it. */
export function finalAnswer(turn: ChatTurn, turns: readonly ChatTurn[]): string {
  const after = turns.slice(indexIn(turns, turn) + 1)
  const next = after.findIndex(({ input }) => input !== undefined)
  return answerOf(after.slice(0, next === -1 ? after.length : next).at(-1) ?? turn)
}

function indexIn(turns: readonly ChatTurn[], { turnId }: ChatTurn): number {
  return turns.findIndex((one) => one.turnId === turnId)
}

/** Returns the text of an answer, without its tool calls. */
function answerOf({ answer }: ChatTurn): string {
  return answer.flatMap((item) => (item.kind === 'text' ? item.text : [])).join('\n')
}

/** The texts of a turn. A turn that resumes another one has no input of its own. */
function messagesOf(turn: ChatTurn): { role: string; content: string }[] {
  const text = answerOf(turn)
  return [
    ...(turn.input === undefined || turn.input === '' ? [] : [{ role: 'user', content: turn.input }]),
    ...(text === '' ? [] : [{ role: 'assistant', content: text }]),
  ]
}
