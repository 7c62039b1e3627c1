import { check, checkEqual } from '../check.ts'
import { show } from '../difference.ts'
import { callWork, defaultSteps, makeBench, type Scene } from './bench.ts'
import { at, type CallScope, hookPlacements } from './hook-placements.ts'
import { type LayerUnderTest, makeLayer } from './layer-under-test.ts'
import { completed, runTurn } from './run.ts'

/** Cases: decisions of inner layers reach the caller. */
export const passingCases = {
  async 'tool: lets a denial through'(options: LayerUnderTest) {
    const { call, executed } = await callOf(options, (ctx) => ctx.deny('Not today.'))
    checkEqual([call?.status, call?.isError], ['denied', true], 'A call that was denied inside stays denied')
    checkEqual(call?.content, 'Not today.', 'The reason of a denial reaches the model')
    checkEqual(executed, [], 'A tool whose call was denied does not run')
  },

  async 'tool: lets a skipped result through'(options: LayerUnderTest) {
    const { call, executed } = await callOf(options, (ctx) => ctx.skipCall('worked'))
    const { call: ran } = await callOf(options, (_, next) => next())
    checkEqual(call?.status, 'skipped', 'A call that an inner layer answered keeps that answer')
    checkEqual(call?.content, ran?.content, 'A result from a layer inside is treated as one from the tool')
    checkEqual(executed, [], 'The tool does not run')
  },

  async 'model: lets a skipped answer through'(options: LayerUnderTest) {
    const answer = 'All is well today.'
    const run = async (scene: Scene) => {
      const bench = makeBench(options, scene)
      const ran = await runTurn(bench, bench.session(), undefined, { read: true })
      return { bench, text: completed(ran, 'A model is answered for').text }
    }
    const skips = at('model', makeLayer(options), (ctx) => ctx.skipCall(answer))
    const skipped = await run({ steps: ['Never said.'], inside: [skips] })
    checkEqual(
      skipped.text,
      (await run({ steps: [answer] })).text,
      'An answer from inside is treated as one from the model',
    )
    checkEqual(skipped.bench.model.calls, 0, 'The model is not called')
  },

  'turn: lets a block through': (options: LayerUnderTest) => blocks(options, 'turn'),
  'model: lets a block through': (options: LayerUnderTest) => blocks(options, 'model'),
  'tool: lets a block through': (options: LayerUnderTest) => blocks(options, 'tool'),

  'turn: lets a stop through': (options: LayerUnderTest) => stops(options, 'turn'),
  'model: lets a stop through': (options: LayerUnderTest) => stops(options, 'model'),
  'tool: lets a stop through': (options: LayerUnderTest) => stops(options, 'tool'),
}

/** Returns the tool call of a run in which an inner layer has this hook. */
async function callOf(options: LayerUnderTest, hook: Parameters<typeof at>[2]) {
  const bench = makeBench(options, { steps: defaultSteps, inside: [at('tool', makeLayer(options), hook)] })
  const { toolCalls } = completed(await runTurn(bench, bench.session()), 'A tool call is decided inside')
  return { call: toolCalls[0]?.result, executed: bench.executed }
}

async function blocks(options: LayerUnderTest, scope: CallScope): Promise<void> {
  const trips = hookPlacements((ctx) => ctx.block('planted', { reply: 'Sorry.' }))
  for (const [place, hook] of Object.entries(trips))
    for (const read of [false, true]) {
      const bench = makeBench(options, { steps: defaultSteps, inside: [at(scope, makeLayer(options), hook)] })
      const { result, error } = await runTurn(bench, bench.session(), undefined, { read })
      check(result !== undefined, `A block ${place} must not fail the run, but the run failed: ${show(error)}`)
      const { status, reason, text } = result
      checkEqual(
        [status, reason, text],
        ['blocked', 'planted', 'Sorry.'],
        `A block ${place} ends the run with its reason and reply`,
      )
    }
}

async function stops(options: LayerUnderTest, scope: CallScope): Promise<void> {
  const stopping = at(scope, makeLayer(options), (ctx, next) => {
    ctx.stop('planted')
    return next()
  })
  const bench = makeBench(options, { steps: [callWork, callWork, callWork], inside: [stopping] })
  const { result, error } = await runTurn(bench, bench.session())
  check(result !== undefined, `A stop must not fail the run, but the run failed: ${show(error)}`)
  checkEqual([result.status, result.reason], ['stopped', 'planted'], 'A stop ends the run with its status and reason')
}
