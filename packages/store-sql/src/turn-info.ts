import type { StoredTurn } from '@allium/core'
import { equalJson } from '@allium/core/internal'

/** The fields of a turn that have no column. */
type TurnInfo = Pick<StoredTurn, 'rootId' | 'agent' | 'answer' | 'calls' | 'records'>

/** What the columns of a turn have. */
interface Columns {
  readonly turnId: string
  readonly sealedAs: string
  readonly messages: StoredTurn['messages']
}

/** What most turns have: no earlier run, the agent of the session, and the text of the last message as their answer. */
function usualInfo({ turnId, sealedAs, messages }: Columns): Record<string, unknown> {
  const last = messages.at(-1)
  const answer = last?.role === 'assistant' && typeof last.content === 'string' ? last.content : null
  return { rootId: turnId, agent: sealedAs, answer, calls: [], records: [] }
}

/** Leaves out the fields that are as usual, so that a row has its answer once. */
export function shortInfo(info: TurnInfo, columns: Columns): Record<string, unknown> {
  const usual = usualInfo(columns)
  const fields = Object.entries({ ...info, calls: info.calls ?? null })
  return Object.fromEntries(fields.filter(([name, value]) => !equalJson(value, usual[name])))
}

/** Returns all fields. */
export function fullInfo(short: Record<string, unknown>, columns: Columns): TurnInfo {
  const { calls, ...info } = { ...usualInfo(columns), ...short }
  return { ...info, ...(calls !== null && { calls }) } as TurnInfo
}
