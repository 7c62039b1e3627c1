import { around } from '../onion/around.ts'
import type { WrappedRun } from '../ports/around.ts'
import type { StoredTurn } from '../ports/session-store.ts'
import type { SessionScope } from '../scopes/session/session-scope.ts'
import type { AbortableWaits } from './abortable-waits.ts'

/** What a run has besides its kind. A rewind and a closing session have nothing of it. */
type Details = Partial<Omit<WrappedRun, 'kind' | 'signal' | 'turnId'>> & { readonly turnId?: string | undefined }

/**
 * Runs a turn, or another change of the session, inside the session's wrappers. Returns the turn to store, or the
 * stored turn that a wrapper returned in place of a run.
 */
export function aroundRun(
  scope: SessionScope,
  kind: WrappedRun['kind'],
  core: () => Promise<StoredTurn>,
  { waits, turnId, ...details }: Details & { readonly waits: AbortableWaits },
): Promise<StoredTurn> {
  const { signal } = waits.cancel
  const $id = () => turnId ?? scope.comingTurnId
  const own = { given: false, replays: false, abort() {}, ...details, kind, signal, $id }
  const run: WrappedRun = Object.assign(new RunId(), own)
  const until = (work: Promise<StoredTurn>) => waits.until(work)
  return around(scope.registered.aroundRun ?? [], run, core, { until, mayAnswer: kind === 'run' })
}

/** A class, because a getter of a literal stays in memory until a full collection, with the whole run. */
class RunId {
  declare readonly $id: () => string
  get turnId(): string {
    return this.$id()
  }
}
