import { check, checkEqual } from '../check.ts'
import { bothWays } from './agreement-cases.ts'
import { callWork, makeBench, type Scene } from './bench.ts'
import { at, type CallScope } from './hook-placements.ts'
import { type LayerUnderTest, makeLayer } from './layer-under-test.ts'
import { completed, runTurn } from './run.ts'

const answer = 'All is well today.'

/** Cases: an outer layer does not call this one, or calls it again. */
export const reentryCases = {
  async 'turn: works where an outer layer answers in its place'(options: LayerUnderTest) {
    await checkNotCalled(options, 'turn', (ctx) => void (ctx.output = answer))
  },
  async 'model: works where an outer layer answers in its place'(options: LayerUnderTest) {
    await checkNotCalled(options, 'model', (ctx) => ctx.skipCall(answer))
  },
  async 'tool: works where an outer layer answers in its place'(options: LayerUnderTest) {
    await checkNotCalled(options, 'tool', (ctx) => ctx.skipCall('From outside.'))
  },

  async 'model: starts again when it is called again'(options: LayerUnderTest) {
    const expected = await firstTry(options, { steps: [answer] })
    for (const first of ['First.', { chunks: ['Half '], error: new Error('planted') }]) {
      const again = { steps: [first, answer, answer], outside: [twice('model')] }
      const bench = makeBench(options, again)
      const ran = await runTurn(bench, bench.session())
      const { text } = completed(ran, 'An outer layer calls again')
      const [one, two] = bench.model.requests
      checkEqual(two, one, 'The second attempt sends the same request')
      checkEqual([text, ran.history], expected, 'The second attempt has the same result as a first one')
      await bothWays(options, again)
    }
  },

  async 'tool: starts again when it is called again'(options: LayerUnderTest) {
    const expected = await firstTry(options, { steps: [callWork, answer] })
    for (const fails of [false, true]) {
      let tries = 0
      const failing = at('tool', makeLayer(options), (_, next) => {
        if (fails && tries++ % 2 === 0) throw new Error('planted')
        return next()
      })
      const again = { steps: [callWork, answer], outside: [twice('tool')], inside: [failing] }
      const bench = makeBench(options, again)
      const ran = await runTurn(bench, bench.session())
      const { text } = completed(ran, 'An outer layer calls again')
      for (const args of bench.executed)
        checkEqual(args, bench.executed[0], 'Each attempt has the arguments of the first')
      checkEqual([text, ran.history], expected, 'The second attempt has the same result as a first one')
      await bothWays(options, again)
    }
  },
}

async function firstTry(options: LayerUnderTest, scene: Scene) {
  const bench = makeBench(options, scene)
  const ran = await runTurn(bench, bench.session())
  return [completed(ran, 'A plain run').text, ran.history]
}

/** Returns a layer that calls next() twice and returns the second result. */
function twice(scope: CallScope) {
  const layer = at(scope, undefined, async (_, next) => {
    await next().catch(() => {})
    return next()
  })
  return { ...layer, reenters: true }
}

async function checkNotCalled(
  options: LayerUnderTest,
  scope: CallScope,
  answers: Parameters<typeof at>[2],
): Promise<void> {
  const steps = scope === 'tool' ? [callWork, answer] : [answer]
  const bench = makeBench(options, { steps, outside: [at(scope, undefined, answers)] })
  const session = bench.session()
  await session.open()
  const before = { ...session.state }
  const ran = await runTurn(bench, session)
  const { text } = completed(ran, 'An outer layer answers')
  if (scope !== 'tool') checkEqual(text, answer, 'The answer of an outer layer is the result')
  check(bench.executed.length === 0, 'The tool does not run')
  const { turn, model, tool } = bench.layer
  const hooks = [turn, model, tool].filter((hook) => hook !== undefined).length
  if (hooks === 1 && bench.layer[scope] !== undefined)
    checkEqual(ran.state, before, 'A layer that was not called changes no state')
}
