import { isBlockError, messageOf } from '@allium/core'
import type { ErrorPhase, HookContexts, HookName } from '../contexts.ts'
import type { Draft, EntryState } from './draft.ts'
import type { Entry } from './hooks.ts'
import type { InTurn, Loop } from './loop.ts'
import { inLoop } from './loop-context.ts'
import { runEntry } from './run-hook-entry.ts'

/** The point at which a hook fires. */
export interface Firing<Name extends HookName> {
  readonly hook: Name
  readonly turn: InTurn
  /** The phase that `onError` receives with a failure. */
  readonly phase: ErrorPhase
  /** Creates the context for one entry. */
  draft(entryState: EntryState): Draft<HookContexts[Name]>
  /** Whether an entry has decided, so that later ones do not run. */
  isDecided?(): boolean
  /** Refuses the action of the hook. @default blocks the turn */
  refuse?(reason: string): void
}

/**
 * Runs the entries of a hook one after the other. `stop()`, a decision or a failure ends them. A failure is reported to `onError`, and
 * refuses the action if the entry is a policy. A timeout is ignored, or refuses.
 */
export async function fire<Name extends HookName>(loop: Loop, firing: Firing<Name>): Promise<void> {
  const { hook, turn, phase } = firing
  const entries = loop.hooks[hook] as readonly Entry<Name>[] | undefined
  if (entries === undefined) return
  const stoppedBefore = loop.stopped
  for (const entry of entries) {
    const entryState: EntryState = { open: true }
    try {
      const { ctx, commit } = firing.draft(entryState)
      const running = runEntry(hook, entry as Entry, ctx, turn, entryState)
      if (running !== undefined && (await running) === 'late') {
        const failsClosed = entry.policy ?? hook === 'beforeToolExecution'
        turn.logger.warn(
          `The hook ${entry.label} took longer than ${entry.timeout} ms, so ${failsClosed ? 'the call or turn is blocked' : 'the loop continues without it'}.`,
        )
        if (failsClosed) return refuse(firing, 'took too long')
        continue
      }
      commit?.()
    } catch (error) {
      if (isBlockError(error) || turn.signal.aborted) throw error
      const failsClosed = entry.policy ?? isBefore(hook)
      turn.logger.warn(
        `The hook ${entry.label} failed, so ${failsClosed ? 'the call or turn is blocked' : 'the loop continues'}: ${messageOf(error)}`,
        { error },
      )
      if (hook !== 'onError') await fireError(loop, turn, phase, error)
      return failsClosed ? refuse(firing, 'failed') : undefined
    }
    if (firing.isDecided?.() === true || (loop.stopped !== undefined && stoppedBefore === undefined)) return
  }
}

/** Reports an error to `onError`, once. */
export async function fireError(loop: Loop, turn: InTurn, phase: ErrorPhase, error: unknown): Promise<void> {
  if (loop.hooks.onError === undefined || !loop.isNew(error)) return
  const wrapped = error instanceof Error ? error : new Error(messageOf(error), { cause: error })
  const draft = (entryState: EntryState) => ({ ctx: inLoop(loop, entryState, { error: wrapped, phase }) })
  await fire(loop, { hook: 'onError', turn, phase, draft })
}

/** Whether an error from inside ends the run or the call intentionally: a block or an abort is not a failure. */
export function endsRun(error: unknown, { signal }: InTurn): boolean {
  return isBlockError(error) || signal.aborted
}

function isBefore(hook: HookName): boolean {
  return hook === 'beforeLoopBegin' || hook === 'beforeModelCall' || hook === 'beforeToolExecution'
}

function refuse<Name extends HookName>({ hook, turn, refuse: refuseAction }: Firing<Name>, problem: string): void {
  const reason = `The hook "${hook}" ${problem}.`
  if (refuseAction !== undefined) return refuseAction(reason)
  turn.block(reason)
}
