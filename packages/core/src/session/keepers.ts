import type { SessionScope } from '../rings/session/session-scope.ts'
import type { BeginningRun, StoredTurn } from '../seams/session-store.ts'
import type { AbortableWaits } from './abortable-waits.ts'

/**
 * Acquires the session from each keeper, for a run or an entry. If the run is already stored, releases the session and
 * returns the stored run.
 *
 * @throws the error of a keeper or the abort reason, after the session was released
 */
export async function beginKeepers(
  scope: SessionScope,
  run: BeginningRun,
  waits: AbortableWaits,
): Promise<StoredTurn | undefined> {
  const { keepers = [] } = scope
  const number = ++scope.beginnings
  let begun = 0
  try {
    for (; begun < keepers.length; begun++) {
      const keeper = keepers[begun]
      // A keeper that acquires the session after the abort releases it, unless another run has it by now.
      const undo = () => (scope.beginnings === number ? keeper?.end?.(undefined) : undefined)
      const stored = await waits.until(keeper?.begin?.(run), undo)
      if (stored === undefined) continue
      await waits.until(releaseKeepers(scope, begun + 1))
      return stored
    }
  } catch (error) {
    await waits.until(releaseKeepers(scope, begun))
    throw error
  }
  return undefined
}

/** Releases the session after a run was rejected. */
export async function releaseKeepers({ keepers = [] }: SessionScope, begun = keepers.length): Promise<void> {
  for (const keeper of keepers.slice(0, begun)) await keeper.end?.(undefined)
}
