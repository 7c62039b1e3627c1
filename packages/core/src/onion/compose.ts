import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { silence } from '../errors/thenable.ts'

/** A layer of a bare onion, without an agent or scopes. */
export type Layer<C = unknown, R = unknown> = (ctx: C, next: () => Promise<R>) => R | Promise<R>

/** Layers, or nested lists of layers. */
export type Layers<C = unknown, R = unknown> = Layer<C, R> | readonly Layers<C, R>[]

/**
 * Composes layers like koa-compose, for any context and without an agent: `compose(a, [b, c])(ctx, core)`.
 * The core gets `(ctx, next)`. Without a core the innermost `next()` resolves with `undefined`.
 *
 * @throws TypeError if an item is not a function. The run rejects with `layer.next_twice` and `layer.floating_next`, in
 * production too.
 * @see https://github.com/koajs/compose
 */
export function compose<C, R = unknown>(...layers: Layers<C, R>[]): (ctx: C, core?: Layer<C, R>) => Promise<R> {
  return chained(layers.flatMap((given) => flat(given, false)))
}

/**
 * Runs a core inside wrappers, the first one outermost. Settles when the core is over too.
 *
 * @param options.until waits for a promise. If it rejects early because the work is cancelled, every later next() rejects
 * @param options.mayAnswer whether a wrapper may return a result of its own without calling next()
 */
export async function around<C, R>(
  wrappers: readonly Layer<C, R>[],
  ctx: C,
  core: () => Promise<R>,
  { until, mayAnswer }: { until(work: Promise<R>): Promise<R>; mayAnswer?: boolean },
): Promise<R> {
  let inner: Promise<R> | undefined
  let enter = (next: () => Promise<R>) => until(next())
  try {
    const answer = await enter(() => chained(wrappers, (next) => enter(next))(ctx, () => (inner = core())))
    if (inner !== undefined) return await inner
    if (mayAnswer === true && answer !== undefined) return answer
    const names = wrappers.map(({ name }) => name)
    throw new AlliumError('layer.no_next', `A wrapper of ${names} did not call next(). Write "return next()".`)
  } catch (reason) {
    enter = () => Promise.reject(reason)
    await inner?.catch(() => {})
    throw reason
  }
}

/** Composes a flat list of layers. @param guard calls the next layer, or rejects in its place @default calls it */
function chained<C, R>(
  chain: readonly Layer<C, R>[],
  guard: (next: () => Promise<R>) => Promise<R> = (next) => next(),
): (ctx: C, core?: Layer<C, R>) => Promise<R> {
  return (ctx, core) => enter(0, ctx, core)

  async function enter(index: number, ctx: C, core: Layer<C, R> | undefined): Promise<R> {
    const layer = index === chain.length ? core : chain[index]
    if (!layer) return undefined as R
    let inner: Promise<R> | undefined
    let running = false
    const next = (): Promise<R> => {
      if (inner !== undefined) return Promise.reject(twice(nameOf(layer, index)))
      running = true
      inner = guard(() => enter(index + 1, ctx, core)).finally(() => {
        running = false
      })
      return inner
    }
    let result: R
    try {
      result = await layer(ctx, next)
    } finally {
      if (running) silence(inner)
    }
    if (running) throw floating(nameOf(layer, index))
    return result
  }
}

/** @param isInList whether `given` is inside a list. An empty list there is a mistake, as in koa-compose. */
function flat<C, R>(given: Layers<C, R>, isInList: boolean): Layer<C, R>[] {
  if (typeof given === 'function') return [given]
  if (Array.isArray(given) && (given.length > 0 || !isInList)) return given.flatMap((one) => flat(one, true))
  const what = Array.isArray(given) ? 'an empty list in a list' : describe(given)
  throw new TypeError(`compose() takes functions (ctx, next) => …, and lists of them, not ${what}.`)
}

function twice(layer: string): AlliumError {
  return new AlliumError(
    'layer.next_twice',
    `next() called multiple times by ${layer}. Call it once, and keep its result.`,
    { details: { layer } },
  )
}

function floating(layer: string): AlliumError {
  return new AlliumError(
    'layer.floating_next',
    `${layer} resolved before downstream: its next() was still running. Write "await next()" or "return next()".`,
    { details: { layer } },
  )
}

function nameOf({ name }: { name: string }, index: number): string {
  return name === '' ? `layer#${index + 1}` : `"${name}"`
}
