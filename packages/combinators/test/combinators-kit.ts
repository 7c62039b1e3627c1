import type { Middleware, ScopeName, Usable } from '@allium/core'
import { manualClock } from '@allium/testing'
import { build, oneCall, read, scopes, settled, type TurnOptions, tool } from '../../core/test/kit.ts'

// biome-ignore lint/suspicious/noExplicitAny: hooks that are written for whatever scope a table names
export type Loose = any
export type LooseHook = (ctx: Loose, next: (options?: object) => Promise<Loose>) => unknown

/** The last of several things done in order, where one expression has room. */
export const last = (...all: Loose[]): Loose => all.at(-1)

/** A layer that hooks every scope, and does `work` around its next(). */
export function everywhere(
  work: (scope: ScopeName, ctx: Record<string, never>) => unknown,
  more: Partial<Middleware> = {},
): Middleware {
  const hooks = scopes.map((scope) => [
    scope,
    async (ctx: Record<string, never>, next: () => Promise<unknown>) => {
      await work(scope, ctx)
      return next()
    },
  ])
  return { name: 'layer', ...Object.fromEntries(hooks), ...more }
}

/** A life with one turn that calls a tool, from init() to dispose(): what a caller, a reader and an observer see of it. */
export async function life(layers: readonly Usable[], given: LifeOptions = {}) {
  const { streams = true, steps = oneCall, of, run: runOptions, input = 'hi', ...options } = given
  const { agent, model, log } = build(steps, layers, {
    tools: [tool('work')],
    ids: () => 'id',
    clock: manualClock(),
    ...options,
  })
  const session = agent.session({ id: 's', ...of })
  const opened = await settled(agent.init().then(() => session.open()) as never)
  const run = session.run(input, runOptions)
  const seen = streams ? await read(run) : undefined
  const { result, error } = await settled(run)
  const closed = await settled(session.close().then(() => agent.dispose()) as never)
  const said = { history: [...session.history], state: { ...session.state }, requests: model.requests.map(request) }
  return { agent, log, result, error, opening: opened.error, closing: closed.error, ...said, events: seen?.events }
}
interface LifeOptions extends TurnOptions {
  /** Whether the run is read as a stream too. */
  streams?: boolean
  steps?: typeof oneCall
}

/** A request without its signal. */
function request({ signal: _, ...rest }: { signal: unknown }) {
  return structuredClone(rest)
}
