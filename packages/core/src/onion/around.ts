import { AlliumError } from '../errors/allium-error.ts'
import { chained, type Layer } from './compose.ts'

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
