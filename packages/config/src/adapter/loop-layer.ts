import { defineMiddleware, type Message, type TypedMiddleware } from '@allium/core'
import { fire, isEnding, tellError } from './fire.ts'
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
        if (!isEnding(error, ctx)) await tellError(loop, ctx, 'model_call', error)
        throw error
      }
      if (waits(ctx.history)) return
      await endIteration(loop, ctx)
      await fireLoop(loop, ctx, 'afterLoopComplete', false)
    },
    async model(ctx, next) {
      const loop = loops.of(ctx)
      if (loop.iteration !== ctx.stepIndex) await endIteration(loop, ctx)
      if (loop.stopped !== undefined) return ctx.skipCall('')
      loop.iteration = ctx.stepIndex
      loop.open = true
      return next()
    },
  })
}

async function endIteration(loop: Loop, place: InTurn): Promise<void> {
  if (!loop.open) return
  loop.open = false
  await fireLoop(loop, place, 'afterLoopIteration', true)
}

type LoopHook = 'beforeLoopBegin' | 'afterLoopIteration' | 'afterLoopComplete'

function fireLoop(loop: Loop, place: InTurn, hook: LoopHook, writes: boolean): Promise<void> {
  return fire(loop, {
    hook,
    place,
    phase: 'model_call',
    draft: (life) => {
      const draft = loopDraft(loop, life)
      return writes ? draft : { ctx: draft.ctx }
    },
  })
}

/** Whether calls of the last answer wait for a human: then the loop has not ended. */
function waits(history: readonly Readonly<Message>[]): boolean {
  const answered = new Set<string>()
  for (let at = history.length - 1; at >= 0; at--) {
    const { role, content } = history[at] as Message
    if (role === 'user' || typeof content === 'string') return false
    for (const part of content) if (part.type === 'tool-result') answered.add(part.callId)
    if (role === 'assistant')
      return content.some(
        (part) => part.type === 'tool-call' && part.providerExecuted !== true && !answered.has(part.callId),
      )
  }
  return false
}
