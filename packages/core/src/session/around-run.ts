import { around } from '../onion/compose.ts'
import type { WrappedRun } from '../ports/around.ts'
import type { StoredTurn } from '../ports/session-store.ts'
import type { Snapshot } from '../state/snapshot.ts'
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
  { waits, turnId, ...details }: Details & { readonly waits: AbortableWaits },
): Promise<StoredTurn> {
  const run: WrappedRun = Object.assign(new BeforeTurn(scope, waits, turnId), { kind, ...details })
  const until = (work: Promise<StoredTurn>) => waits.until(work)
  return around(scope.registered.aroundRun ?? [], run, () => core(run), { until, mayAnswer: kind === 'run' })
}

/** Not the getters of a literal: they stay in memory until a full collection, with the session and its run. */
class BeforeTurn {
  readonly given: boolean
  readonly #scope: SessionScope
  readonly #waits: AbortableWaits
  readonly #turnId: string | undefined

  constructor(scope: SessionScope, waits: AbortableWaits, turnId: string | undefined) {
    this.given = turnId !== undefined
    this.#scope = scope
    this.#waits = waits
    this.#turnId = turnId
  }

  abort(): void {}
  before(): Snapshot {
    return this.#scope.snapshot()
  }
  get turnId(): string {
    return this.#turnId ?? this.#scope.comingTurnId
  }
  get signal(): AbortSignal {
    return this.#waits.cancel.signal
  }
}
