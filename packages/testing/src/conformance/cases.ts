import { checkSkips } from './check-skips.ts'

/** One rule of a suite. `run()` rejects if the rule does not hold, with a message about what it observed. */
export interface ConformanceCase<Name extends string = string> {
  readonly name: Name
  run(): Promise<void>
  /** Why it does not apply; if set, it is registered as skipped. */
  readonly skip?: string
}

/** The functions that register tests: `describe` and `it` of vitest, jest or node:test. */
export interface TestFunctions {
  describe(name: string, define: () => void): unknown
  it: TestFunction & { skip?: TestFunction }
}
type TestFunction = (name: string, run: () => Promise<void>) => unknown

/**
 * Returns the cases of a list.
 *
 * @param play runs one on a bench of its own
 * @throws TypeError when `skip` names no case
 */
export function casesOf<Run>(
  list: Readonly<Record<string, Run>>,
  skip: Readonly<Record<string, string>>,
  play: (run: Run) => Promise<void>,
): ConformanceCase[] {
  checkSkips(skip, Object.keys(list))
  return Object.entries(list).map(([name, run]) => ({
    name,
    ...(skip[name] !== undefined && { skip: skip[name] }),
    run: () => play(run),
  }))
}

/** Registers cases as tests. The title of a skipped one includes its reason. */
export function register(title: string, cases: readonly ConformanceCase[], { describe, it }: TestFunctions): void {
  describe(title, () => {
    for (const { name, run, skip } of cases)
      if (skip === undefined) it(name, () => run())
      else (it.skip ?? noSkip)(`${name} (skipped: ${skip})`, () => run())
  })
}

/** A runner without `it.skip` does not register the case. */
function noSkip(): void {}
