import type { StoredTurn } from '@allium/core'
import { equalJson } from '@allium/core/internal'

/** What the columns of a turn have. */
interface Columns {
  readonly turnId: string
  readonly sealedAs: string
  readonly messages: StoredTurn['messages']
}

/** What most turns have: no earlier run, the agent of the session, and the text of the last message as their answer. */
export function usualInfo({ turnId, sealedAs, messages }: Columns) {
  const last = messages.at(-1)
  const answer = last?.role === 'assistant' && typeof last.content === 'string' ? last.content : null
  return { rootId: turnId, agent: sealedAs, answer, records: [] }
}

/** Leaves out the fields that are as usual, so that a row has its answer once. */
export function shortInfo(info: object, columns: Columns): object {
  const usual: Record<string, unknown> = usualInfo(columns)
  return Object.fromEntries(Object.entries(info).filter(([name, value]) => !equalJson(value, usual[name])))
}
