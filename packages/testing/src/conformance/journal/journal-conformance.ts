import type { Journal } from '@allium/core'
import { checkOptions } from '@allium/core/internal'
import { type ConformanceCase, casesOf, register, type TestFunctions } from '../cases.ts'
import { type JournalBench, journalCaseList } from './journal-cases.ts'

/** Creates an empty journal for one case, which can be opened again as the next process would. */
export type MakeJournal = () => JournalParts | Promise<JournalParts>

export interface JournalParts {
  journal: Journal
  /** Opens the same journal as a process that continues after another one died. */
  reopen(): Journal | Promise<Journal>
  /** Closes everything that a case has opened. */
  close?(): unknown
}

export interface JournalConformanceOptions {
  /** Cases that cannot hold, each with its reason. */
  skip?: Readonly<Record<string, string>> | undefined
}

/**
 * Returns the rules for every {@link Journal}, as cases. {@link journalConformance} registers them. @throws TypeError when `skip` names no
 * case
 */
export function journalCases(makeJournal: MakeJournal, options: JournalConformanceOptions = {}): ConformanceCase[] {
  checkOptions(options, { skip: true }, 'journalCases()', 'options.invalid')
  const { skip = {} } = options
  return casesOf(journalCaseList, skip, (run) => withParts(makeJournal, run))
}

/**
 * Registers the suite for every {@link Journal}, with `describe` and `it` of vitest, jest or node:test.
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
