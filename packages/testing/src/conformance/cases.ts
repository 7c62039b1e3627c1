/** One claim of a suite. `run()` rejects where it does not hold, with a message that says what was seen. */
export interface ConformanceCase<Name extends string = string> {
  readonly name: Name
  run(): Promise<void>
  /** Why it does not apply; then it is registered as skipped. */
  readonly skip?: string
}

/** What registers tests: `describe` and `it` of vitest, jest or node:test. */
export interface TestFunctions {
  describe(name: string, define: () => void): unknown
  it: TestFunction & { skip?: TestFunction }
}
type TestFunction = (name: string, run: () => Promise<void>) => unknown

/** Registers cases as tests. A skipped one carries its reason in its title. */
export function register(title: string, cases: readonly ConformanceCase[], { describe, it }: TestFunctions): void {
  describe(title, () => {
    for (const { name, run, skip } of cases)
      if (skip === undefined) it(name, () => run())
      else (it.skip ?? noSkip)(`${name} (skipped: ${skip})`, () => run())
  })
}

/** A runner without `it.skip` does not hear of the case. */
function noSkip(): void {}
