import type { ScriptedStep } from '../../step.ts'
import { check, Nonconformance } from '../check.ts'
import { show } from '../difference.ts'
import { callWork, defaultSteps, makeBench, type Scene } from './bench.ts'
import { at, type CallScope, hookPlacements } from './hook-placements.ts'
import { type LayerUnderTest, makeLayer } from './layer-under-test.ts'
import { completed, runTurn } from './run.ts'
import { macrotask } from './unhandled.ts'

/** Cases: an error from inside comes out unchanged, or as the cause of another error. */
export const errorCases = {
  'turn: lets errors through': (options: LayerUnderTest) => throwsInside(options, 'turn'),
  'tool: lets errors through': (options: LayerUnderTest) => throwsInside(options, 'tool'),

  async 'model: lets errors through'(options: LayerUnderTest) {
    await throwsInside(options, 'model')
    const planted = new Error('planted')
    const always = (step: ScriptedStep) => Array.from({ length: 20 }, () => step) // for layers that retry
    await checkErrorSurfaces(options, 'a model that throws at once', planted, { steps: always(planted) })
    const later = async () => {
      await macrotask()
      return planted
    }
    await checkErrorSurfaces(options, 'a model that throws later', planted, { steps: always(later) })
    const midway = { text: 'Half an answer', error: planted }
    await checkErrorSurfaces(options, 'a model that throws after chunks', planted, { steps: always(midway) })
    const second = [callWork, ...always(midway)]
    await checkErrorSurfaces(options, 'a model that throws in the second step', planted, { steps: second })
  },

  async 'tool: keeps the failure of a tool a failure'(options: LayerUnderTest) {
    const bench = makeBench(options, {
      steps: defaultSteps,
      work() {
        throw new Error('planted')
      },
    })
    const { toolCalls } = completed(await runTurn(bench, bench.session()), 'A tool fails')
    const { status, isError } = toolCalls[0]?.result ?? {}
    check(isError === true && status === 'error', `The result of a tool that failed is an error, but is "${status}"`)
  },
}

async function throwsInside(options: LayerUnderTest, scope: CallScope): Promise<void> {
  const planted = new Error('planted')
  const throws = hookPlacements(() => {
    throw planted
  })
  for (const [place, hook] of Object.entries(throws))
    await checkErrorSurfaces(options, `a layer inside that throws ${place}`, planted, {
      steps: defaultSteps,
      inside: [at(scope, makeLayer(options), hook)],
    })
}

async function checkErrorSurfaces(options: LayerUnderTest, actor: string, planted: Error, scene: Scene): Promise<void> {
  for (const read of [false, true]) {
    const bench = makeBench(options, scene)
    const { result, error } = await runTurn(bench, bench.session(), undefined, { read })
    if (result !== undefined)
      throw new Nonconformance(
        `The error of ${actor} was swallowed: the run ended ${result.status}. Rethrow errors that you cannot handle.`,
      )
    if (error !== planted && !carries(error, planted))
      throw new Nonconformance(
        `The error of ${actor} must be rethrown or be the cause of the new error, but ${show(error)} was thrown. Pass { cause: error }.`,
        { cause: error },
      )
    const { suppressed } = planted as { suppressed?: unknown[] }
    if (suppressed !== undefined)
      throw new Nonconformance(
        `${show(suppressed[0])} was thrown over the error of ${actor}, without it as cause. Rethrow the error, or pass { cause: error }.`,
        { cause: suppressed[0] },
      )
  }
}

function carries(error: unknown, planted: Error, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 16) return false
  const { cause, errors = [] } = error as { cause?: unknown; errors?: unknown[] }
  return [cause, ...errors].some((inner) => inner === planted || carries(inner, planted, depth + 1))
}
