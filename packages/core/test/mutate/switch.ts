/** The switch of instrumented sources. Its names are Stryker's. */
interface Switch {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number
  mutantCoverage?: { perTest: Record<string, Record<string, number>> }
}

/** A mutant whose code runs more often in one case or test is in an endless loop. */
const hitLimit = 200_000
const state: Switch = ((globalThis as { __stryker__?: Switch }).__stryker__ ??= {})

/** Runs with a mutant turned on. */
export async function withMutant<T>(id: string, fn: () => Promise<T>): Promise<T> {
  Object.assign(state, { activeMutant: id, hitCount: 0, hitLimit })
  try {
    return await fn()
  } finally {
    state.activeMutant = undefined
    state.hitCount = undefined
  }
}

/** Counts the runs of the active mutant's code anew. */
export function resetHits(): void {
  if (state.hitCount !== undefined) state.hitCount = 0
}

/** Runs a test, and returns the mutants that it reaches. */
export async function mutantsIn(test: string, fn: () => Promise<unknown>): Promise<string[]> {
  state.currentTestId = test
  await fn()
  state.currentTestId = undefined
  return Object.keys(state.mutantCoverage?.perTest[test] ?? {})
}
