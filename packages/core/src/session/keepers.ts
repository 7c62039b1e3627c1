import type { SessionScope } from '../rings/session/session-scope.ts'
import type { BeginningRun, StoredTurn } from '../seams/session-store.ts'
import type { AbortableWaits } from './abortable-waits.ts'

/**
 * Takes the session with each keeper, for a run or an entry. A run that is stored already ends it: the session is given back.
 *
 * @throws what a keeper throws, or the abort; the session is given back then
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
      // One that takes the session in spite of the signal gives it back, unless another run has it by now.
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

/** A run was refused after the session had been taken for it. */
export async function releaseKeepers({ keepers = [] }: SessionScope, begun = keepers.length): Promise<void> {
  for (const keeper of keepers.slice(0, begun)) await keeper.end?.(undefined)
}
