import { defineMiddleware, type TypedMiddleware } from '@allium/core'
import { endsRun, fire, fireError } from './fire.ts'
import type { InTurn, Loop, Loops } from './loop.ts'
import { loopDraft } from './loop-context.ts'

/**
 * The hooks around the loop and its iterations. The outermost layer of a config: an iteration ends where the next model call
 * begins, or where the loop has ended, whatever the layers inside do.
 */
export function loopLayer(loops: Loops): TypedMiddleware<{}> {
  return defineMiddleware({
    name: 'config:loop',
    async turn(ctx, next) {
      const loop = loops.of(ctx)
      loop.open = ctx.resumed
      await fireLoop(loop, ctx, 'beforeLoopBegin', true)
      try {
        await next()
      } catch (error) {
        if (!endsRun(error, ctx)) await fireError(loop, ctx, 'model_call', error)
        throw error
      }
      if (ctx.pending.length > 0) return
      await endIteration(loop, ctx)
      await fireLoop(loop, ctx, 'afterLoopComplete', false)
    },
    async model(ctx, next) {
      const loop = loops.of(ctx)
      if (loop.iteration !== ctx.stepIndex) await endIteration(loop, ctx)
      if (loop.stopped !== undefined) return ctx.skipCall('')
      loop.begin(ctx.stepIndex)
      return next()
    },
  })
}

/** Tells of the end of an iteration. Where a call was left while it did, the one that is made again tells of it. */
async function endIteration(loop: Loop, turn: InTurn): Promise<void> {
  while (loop.ending !== undefined) await loop.ending.catch(() => {})
  if (!loop.open) return
  loop.open = false
  loop.ending = fireLoop(loop, turn, 'afterLoopIteration', true)
  try {
    await loop.ending
  } catch (error) {
    loop.open = true
    throw error
  } finally {
    loop.ending = undefined
  }
}

type LoopHook = 'beforeLoopBegin' | 'afterLoopIteration' | 'afterLoopComplete'

function fireLoop(loop: Loop, turn: InTurn, hook: LoopHook, writes: boolean): Promise<void> {
  return fire(loop, {
    hook,
    turn,
    phase: 'model_call',
    draft: (entryState) => {
      const draft = loopDraft(loop, entryState)
      return writes ? draft : { ctx: draft.ctx }
    },
  })
}
