import type { ModelContext } from '@allium/core'

/**
 * Writes to the run's journal that a call begins. Returns how many earlier processes began the same call and were lost before it ended.
 * Without a journal, and in a rehearsal, which skips steps of `takeover/`, it returns 0.
 */
export async function countCutCalls(ctx: ModelContext): Promise<number> {
  let begun = 0
  for (;;) {
    let isLive = false
    const begin = async (): Promise<boolean | undefined> => {
      isLive = true
      return ctx.isRecorded()
    }
    const isRecorded = await ctx.once('takeover/begun', begin, { per: 'attempt' })
    if (isRecorded === undefined) return 0
    if (!isRecorded) begun++
    // The last one that began is this call, or the call that is replayed.
    if (isLive || isRecorded) return Math.max(0, begun - 1)
  }
}
