import { defineMiddleware, type TypedMiddleware } from '@allium/core'
import type { Loops } from './loop.ts'
import { modelHooks } from './model-hooks.ts'
import { toolHooks } from './tool-hooks.ts'

/**
 * Returns the layer for the hooks around each model call, inside the packs of a config. They run once per attempt, and not for cached
 * answers.
 */
export function modelLayer(loops: Loops): TypedMiddleware<{}> {
  return defineMiddleware({
    name: 'config:model',
    inherit: true,
    model: (ctx, next) => modelHooks(loops.of(ctx), ctx, next),
  })
}

/**
 * Returns the layer for the hooks around each tool call. It runs directly around the tool, so a policy sees the arguments that would run.
 */
export function toolLayer(loops: Loops, authorizes: boolean): TypedMiddleware<{}> {
  return defineMiddleware({
    name: 'config:tools',
    order: authorizes ? { is: ['authorizes'] } : {},
    innermost: true,
    inherit: true,
    tool: (ctx, next) => toolHooks(loops.of(ctx), ctx, next),
  })
}
