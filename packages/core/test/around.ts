import { aroundRun } from '../src/context.ts'
import type { AroundRun, Middleware } from '../src/index.ts'

/** A layer that wraps the runs of its sessions. */
export function around(wrapper: AroundRun): Middleware {
  return {
    name: 'watches',
    session(ctx, next) {
      aroundRun(ctx, wrapper)
      return next()
    },
  }
}
