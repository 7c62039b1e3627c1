import { around } from '../onion/compose.ts'
import type { WrappedRun } from '../ports/around.ts'
import type { StoredTurn } from '../ports/session-store.ts'
import type { AbortableWaits } from './abortable-waits.ts'
import type { SessionScope } from './scope/session-scope.ts'

/** What a run has besides its kind. A rewind and a closing session have nothing of it. */
type Details = Partial<Omit<WrappedRun, 'kind' | 'signal' | 'turnId' | 'given' | 'before'>> & {
  readonly turnId?: string | undefined
}

/**
 * Runs a turn, or another change of the session, inside the session's wrappers. Returns the turn to store, or the
 * stored turn that a wrapper returned in place of a run.
 */
export function aroundRun(
  scope: SessionScope,
  kind: WrappedRun['kind'],
  core: (run: WrappedRun) => Promise<StoredTurn>,
  { waits, ...details }: Details & { readonly waits: AbortableWaits },
): Promise<StoredTurn> {
  const run: WrappedRun = {
    given: details.turnId !== undefined,
    abort() {},
    before: () => scope.snapshot(),
    ...details,
    kind,
    get turnId() {
      return details.turnId ?? scope.comingTurnId
    },
    get signal() {
      return waits.cancel.signal
    },
  }
  const until = (work: Promise<StoredTurn>) => waits.until(work)
  return around(scope.registered.aroundRun ?? [], run, () => core(run), { until, mayAnswer: kind === 'run' })
}
