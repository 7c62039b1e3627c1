import { checkOptions, type KeysOf } from '@allium/core/internal'
import { type RecordingsQuery, readRecordings } from '@allium/replay/recorded'
import { CaseCollector } from './case-collector.ts'
import { type CaseSelection, checkSelection, type StoredCases, selectionKeys } from './case-selection.ts'

export interface CasesFromRecordings
  extends CaseSelection,
    Pick<RecordingsQuery, 'recordings' | 'sessions' | 'since' | 'until'> {}

const known: KeysOf<CasesFromRecordings> = {
  ...selectionKeys,
  recordings: true,
  sessions: true,
  since: true,
  until: true,
}

/**
 * Returns eval cases from turns that `record()` stored: the input before any layer changed it, the conversation before, the principal and
 * the context. Turns with the same input become one case.
 *
 * @throws AlliumError `options.invalid`; errors of the stores, such as `store.unavailable`
 * @example
 * const { cases } = await casesFromRecordings({ recordings: store.recordings, sessions: store, agent: 'desk', tenant: 'acme' })
 * await writeCases('evals/desk.cases.jsonl', cases)
 */
export async function casesFromRecordings(options: CasesFromRecordings): Promise<StoredCases> {
  const what = 'casesFromRecordings()'
  checkOptions(options, known, what, 'options.invalid')
  checkSelection(options, what)
  const { recordings, sessions, agent, tenant, since, until } = options
  const collector = new CaseCollector(options)
  const turns = readRecordings({ recordings, sessions, agent, tenant, since, until, limit: maxTurns })
  for await (const { key, turnId, recorded, before } of turns) {
    const { task, result, principal, context } = recorded
    const answer = typeof result.answer === 'string' ? result.answer : undefined
    collector.add({ key, turnId, history: before.history, input: task.input, answer, principal, context })
  }
  for (const [reason, count] of Object.entries(turns.unread)) collector.skip(reason, count)
  return collector.result()
}

/** Of these newest turns, many may have the same input or no rating. */
const maxTurns = 20_000
