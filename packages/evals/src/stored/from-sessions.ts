import { type Message, textOf } from '@allium/core'
import { checkOptions, type KeysOf } from '@allium/core/internal'
import type { SessionStore } from '@allium/store'
import { CaseCollector } from './case-collector.ts'
import { type CaseSelection, checkSelection, type StoredCases, selectionKeys } from './case-selection.ts'

export interface CasesFromSessions extends CaseSelection {
  /** The store of the sessions. */
  sessions: Pick<SessionStore, 'list' | 'load' | 'find'>
}

const known: KeysOf<CasesFromSessions> = { ...selectionKeys, sessions: true }

/**
 * Returns eval cases from stored sessions: one for the last question of each session, with the conversation before it. It needs no
 * recordings, but a session has neither the context nor the input as it was before the layers.
 *
 * @throws AlliumError `options.invalid`; errors of the store, such as `store.unavailable`
 */
export async function casesFromSessions(options: CasesFromSessions): Promise<StoredCases> {
  const what = 'casesFromSessions()'
  checkOptions(options, known, what, 'options.invalid')
  checkSelection(options, what)
  const { sessions, agent, tenant } = options
  const collector = new CaseCollector(options)
  const found = []
  let cursor: string | undefined
  do {
    const page = await sessions.list({ tenant, agents: [agent], cursor, limit: 100 })
    found.push(...page.items)
    cursor = page.cursor
  } while (cursor !== undefined && found.length < maxSessions)
  for (const { key, version } of found.reverse()) {
    const stored = await sessions.load(key, { version })
    const turn = await sessions.find(key, { version })
    const history = stored?.history ?? []
    const at = history.findLastIndex(isQuestion)
    if (turn === undefined || at < 0) collector.skip('the session has no question')
    else {
      const answer = history.slice(at + 1).findLast(({ role }) => role === 'assistant')
      const input = history[at]
      collector.add({
        key,
        turnId: turn.turnId,
        history: history.slice(0, at),
        input: typeof input?.content === 'string' ? input.content : input,
        answer: answer && textOf(answer),
      })
    }
  }
  return collector.result()
}

/** The newest sessions are enough for the largest number of cases. */
const maxSessions = 20_000

function isQuestion({ role }: Message): boolean {
  return role === 'user'
}
