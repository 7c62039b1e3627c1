import { isBlockError, messageOf } from '@allium/core'
import type { ErrorPhase, HookContexts, HookName } from '../contexts.ts'
import type { Draft, Life } from './draft.ts'
import type { Entry } from './hooks.ts'
import type { InTurn, Loop } from './loop.ts'
import { inLoop } from './loop-context.ts'
import { runEntry } from './run-entry.ts'

/** Where a hook fires. */
export interface Firing<Name extends HookName> {
  readonly hook: Name
  readonly place: InTurn
  /** What `onError` is told of a failure. */
  readonly phase: ErrorPhase
  /** The context for one entry. */
  draft(life: Life): Draft<HookContexts[Name]>
  /** Whether an entry has decided, so that no later one is asked. */
  decided?(): boolean
  /** Refuses what the hook stands before or after. @default the turn is blocked */
  refuse?(reason: string): void
}

/**
 * Runs the entries of a hook, one after the other. `stop()` and a decision end it; a failure ends it too, is told to
 * `onError`, and refuses where the entry is a policy; a timeout is passed over, or refuses.
 */
export async function fire<Name extends HookName>(loop: Loop, firing: Firing<Name>): Promise<void> {
  const { hook, place, phase } = firing
  const entries = loop.hooks[hook] as readonly Entry<Name>[] | undefined
  if (entries === undefined) return
  const before = loop.stopped
  for (const entry of entries) {
    const life: Life = { open: true }
    try {
      const { ctx, commit } = firing.draft(life)
      const running = runEntry(hook, entry as Entry, ctx, place, life)
      if (running !== undefined && (await running) === 'late') {
        const closes = entry.policy ?? hook === 'beforeToolExecution'
        place.logger.warn(
          `The hook ${entry.label} took longer than ${entry.timeout} ms; ${closes ? 'so it refuses' : 'the loop goes on without it'}.`,
        )
        if (closes) return refuse(firing, 'took too long')
        continue
      }
      commit?.()
    } catch (error) {
      if (isBlockError(error) || place.signal.aborted) throw error
      const closes = entry.policy ?? isBefore(hook)
      place.logger.warn(
        `The hook ${entry.label} failed; ${closes ? 'so it refuses' : 'the loop goes on'}: ${messageOf(error)}`,
        { error },
      )
      if (hook !== 'onError') await tellError(loop, place, phase, error)
      return closes ? refuse(firing, 'failed') : undefined
    }
    if (firing.decided?.() === true || (loop.stopped !== undefined && before === undefined)) return
  }
}

/** Tells `onError` of an error, once. */
export async function tellError(loop: Loop, place: InTurn, phase: ErrorPhase, error: unknown): Promise<void> {
  if (loop.hooks.onError === undefined || !loop.isNew(error)) return
  const told = error instanceof Error ? error : new Error(messageOf(error), { cause: error })
  const draft = (life: Life) => ({ ctx: inLoop(loop, life, { error: told, phase }) })
  await fire(loop, { hook: 'onError', place, phase, draft })
}

/** Whether an error from inside ends the run, or the call, by intent: a block or an abort is no exception. */
export function isEnding(error: unknown, { signal }: InTurn): boolean {
  return isBlockError(error) || signal.aborted
}

function isBefore(hook: HookName): boolean {
  return hook === 'beforeLoopBegin' || hook === 'beforeModelCall' || hook === 'beforeToolExecution'
}

function refuse<Name extends HookName>({ hook, place, refuse }: Firing<Name>, what: string): void {
  const reason = `The hook "${hook}" ${what}.`
  if (refuse !== undefined) return refuse(reason)
  place.block(reason)
}
