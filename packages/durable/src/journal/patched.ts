import type { Journal } from '@allium/core'
import type { InnerRun } from '@allium/core/internal'

/** A context in which a run can record an answer: that of a turn, model or tool hook, or of a tool. */
export interface PatchContext {
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T>
}

interface Patches {
  readonly turnId: string
  /** Whether the run was started with the code of this process. */
  readonly isNewCode: boolean
  /** One id has one answer in the whole run, in sub-agents, too. */
  readonly answers: Map<string, boolean | PromiseLike<boolean>>
}

const patchesOf = new WeakMap<Journal, Patches>()

/** Lets `patched()` answer in the run of a journal. */
export function allowPatches(journal: Journal, run: { turnId: string; isNewCode: boolean }): void {
  patchesOf.set(journal, { ...run, answers: new Map() })
}

const prefix = 'durable:patched:'

/** Whether a step records an answer of `patched()`. */
export function isPatchStep(id: string): boolean {
  return id.includes(`:${prefix}`)
}

/**
 * Whether a run was started with the current version of the agent. For a change of the code that runs of earlier versions must not see. The
 * answer is recorded, so it stays the same for the whole run, in every process. True in runs that are not durable.
 *
 * @param id names the change. One id has one answer per run
 * @example
 * if (await patched(ctx, 'new-tariff')) return newTariff(args)
 * return oldTariff(args)
 */
export function patched(ctx: PatchContext, id: string): Promise<boolean> {
  const answer = ({ journal }: InnerRun = {}): boolean | Promise<boolean> => {
    const patches = journal && patchesOf.get(journal)
    if (journal === undefined || patches === undefined) return true
    const { turnId, isNewCode, answers } = patches
    const record = () =>
      journal.step(
        `${turnId}:${prefix}${id}`,
        () => isNewCode,
        () => {},
      )
    const recorded = answers.get(id) ?? record()
    answers.set(id, recorded)
    return Promise.resolve(recorded)
  }
  return ctx.once(`${prefix}${id}`, answer)
}
