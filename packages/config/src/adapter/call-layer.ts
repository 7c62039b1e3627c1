import { defineMiddleware, type TypedMiddleware } from '@allium/core'
import type { Loops } from './loop.ts'
import { modelHooks } from './model-hooks.ts'
import { toolHooks } from './tool-hooks.ts'

/** The hooks around each model call, inside the packs of a config: once for each attempt, and for no answer from a cache. */
export function modelLayer(loops: Loops): TypedMiddleware<{}> {
  return defineMiddleware({
    name: 'config:model',
    inherit: true,
    model: (ctx, next) => modelHooks(loops.of(ctx), ctx, next),
  })
}

/** The hooks around each tool call, right around the tool: a policy sees the arguments that would run. */
export function toolLayer(loops: Loops, authorizes: boolean): TypedMiddleware<{}> {
  return defineMiddleware({
    name: 'config:tools',
    order: authorizes ? { is: ['authorizes'] } : {},
    innermost: true,
    inherit: true,
    tool: (ctx, next) => toolHooks(loops.of(ctx), ctx, next),
  })
}
