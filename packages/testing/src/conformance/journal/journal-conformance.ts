import { checkOptions, type Journal } from '@allium/core'
import { type ConformanceCase, register, type TestFunctions } from '../cases.ts'
import { checkSkips } from '../check-skips.ts'
import { type JournalBench, journalCaseList } from './journal-cases.ts'

/** Makes an empty journal for one case, and opens it once more as the next process does. */
export type MakeJournal = () => JournalParts | Promise<JournalParts>

export interface JournalParts {
  journal: Journal
  /** The same journal, as a process finds it that goes on behind one that died. */
  reopen(): Journal | Promise<Journal>
  /** Closes what a case has opened. */
  close?(): unknown
}

export interface JournalConformanceOptions {
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

/** What every {@link Journal} has to do, as cases. {@link journalConformance} registers them. @throws TypeError where `skip` names no case */
export function journalCases(makeJournal: MakeJournal, options: JournalConformanceOptions = {}): ConformanceCase[] {
  checkOptions(options, { skip: true }, 'journalCases()', 'options.invalid')
  const { skip = {} } = options
  checkSkips(skip, Object.keys(journalCaseList))
  return Object.entries(journalCaseList).map(([name, run]) => ({
    name,
    run: () => withParts(makeJournal, run),
    ...(skip[name] !== undefined && { skip: skip[name] }),
  }))
}

/**
 * Registers the suite that every {@link Journal} passes, with `describe` and `it` of vitest, jest or node:test.
 *
 * @example
 * journalConformance({ makeJournal, describe, it })
 */
export function journalConformance({
  makeJournal,
  name = 'a Journal',
  describe,
  it,
  ...options
}: JournalConformanceOptions & TestFunctions & { makeJournal: MakeJournal; name?: string }): void {
  register(name, journalCases(makeJournal, options), { describe, it })
}

async function withParts(makeJournal: MakeJournal, run: (bench: JournalBench) => Promise<void>): Promise<void> {
  const { journal, reopen, close } = await makeJournal()
  try {
    await run({ journal, reopen: async () => reopen() })
  } finally {
    await close?.()
  }
}
