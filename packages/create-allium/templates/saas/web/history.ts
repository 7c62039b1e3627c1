import type { SessionHistory } from '@allium/server/client'

type Part = SessionHistory['messages'][number]['parts'][number]

/** A call that the user may be asked about. */
export interface Question {
  callId: string
  /** The tool, and its arguments. */
  name: string
  args: unknown
  /** Proves that the server asked. */
  token?: string | undefined
}

/** A tool call of the history. */
export interface PastCall extends Question {
  /** Whether it waits for the user's decision. */
  isPending: boolean
  /** Whether it was denied, cancelled or failed. */
  hasFailed: boolean
}

/** Returns the text of a part; undefined for a part of another kind. */
export function textOf(part: Part): string | undefined {
  return part.type === 'text' ? String(part.text) : undefined
}

/** Returns the tool call of a part; undefined for other parts. */
export function callOf({ type, state, input, toolCallId, approval }: Part): PastCall | undefined {
  if (!type.startsWith('tool-')) return undefined
  const isPending = state === 'approval-requested'
  return {
    callId: String(toolCallId),
    name: type.replace('tool-', ''),
    args: input,
    isPending,
    hasFailed: state === 'output-error',
    ...(isPending && { token: (approval as { id: string }).id }),
  }
}
