import { defineMiddleware, type TypedMiddleware } from '@allium/core'
import { isResumed, pendingCalls } from '@allium/core/context'
import { endsRun, fire, fireError } from './fire.ts'
import type { InTurn, Loop, Loops } from './loop.ts'
import { loopDraft } from './loop-context.ts'

/**
 * Returns the layer for the hooks around the loop and its iterations, the outermost layer of a config. An iteration ends when the next
 * model call begins or the loop ends, whatever the inner layers do.
 */
export function loopLayer(loops: Loops): TypedMiddleware<{}> {
  return defineMiddleware({
    name: 'config:loop',
    async turn(ctx, next) {
      const loop = loops.of(ctx)
      loop.open = isResumed(ctx)
      await fireLoop(loop, ctx, 'beforeLoopBegin', true)
      try {
        await next()
      } catch (error) {
        if (!endsRun(error, ctx)) await fireError(loop, ctx, 'model_call', error)
        throw error
      }
      if (pendingCalls(ctx).length > 0) return
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

/** Reports the end of an iteration. If the reporting call was abandoned, the repeated call reports it. */
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
