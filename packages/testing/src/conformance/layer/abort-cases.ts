import type { AgentRun } from '@allium/core'
import { check, checkEqual } from '../check.ts'
import { show } from '../difference.ts'
import { callWork, defaultSteps, makeBench, type Scene } from './bench.ts'
import { at, type CallScope, hookPlacements, untilAborted } from './hook-placements.ts'
import { type LayerUnderTest, makeLayer } from './layer-under-test.ts'
import { advanceUntil, completed, runTurn, type TurnRun } from './run.ts'

/** Cases: an abort ends the run at any point, and the session stays usable. */
export const abortCases = {
  async 'takes no notice of an abort after the run'(options: LayerUnderTest) {
    const bench = makeBench(options, { steps: [...defaultSteps, ...defaultSteps] })
    const session = bench.session()
    let first: AgentRun | undefined
    const ran = await runTurn(bench, session, () => (first = session.run('What is new?')))
    first?.abort('planted')
    completed(ran, 'An abort comes after the run')
    completed(await runTurn(bench, session), 'The session is run again')
  },

  async 'ends with an abort at any moment'(options: LayerUnderTest) {
    let ran: TurnRun | undefined
    for (let ticks = 0; ran?.result === undefined && ticks < 2000; ticks += 1 + Math.floor(ticks / 10)) {
      const bench = makeBench(options, { steps: [...defaultSteps, ...defaultSteps, ...defaultSteps] })
      const session = bench.session()
      ran = await runTurn(bench, session, undefined, {
        async meanwhile(run) {
          for (let i = 0; i < ticks; i++) await undefined
          run.abort('planted')
        },
      })
      if (ran.result === undefined) checkAborted(ran.error, `after ${ticks} ticks`)
      completed(await runTurn(bench, session), `The session is run again after an abort at tick ${ticks}`)
    }
  },

  'turn: ends with an abort while a layer inside waits': (options: LayerUnderTest) => abortsInside(options, 'turn'),
  'model: ends with an abort while a layer inside waits': (options: LayerUnderTest) => abortsInside(options, 'model'),
  'tool: ends with an abort while a layer inside waits': (options: LayerUnderTest) => abortsInside(options, 'tool'),

  async 'model: ends with an abort at each chunk'(options: LayerUnderTest) {
    const chunks = ['One ', 'two ', 'three.']
    for (let sent = 0; sent <= chunks.length; sent++)
      await aborts(options, `after ${sent} chunks`, (stalled) => ({
        steps: [
          () => {
            stalled()
            return { chunks: chunks.slice(0, sent), stall: true }
          },
          ...defaultSteps,
        ],
      }))
  },

  async 'tool: ends with an abort while a tool runs'(options: LayerUnderTest) {
    for (const heeds of [true, false])
      await aborts(options, `while a tool runs that ${heeds ? 'heeds' : 'ignores'} it`, (stalled) => {
        let first = true
        return {
          steps: [callWork, ...defaultSteps],
          work(_, { signal }) {
            if (!first) return 'worked'
            first = false
            stalled()
            return heeds ? untilAborted(signal) : new Promise(() => {})
          },
        }
      })
  },
}

async function abortsInside(options: LayerUnderTest, scope: CallScope): Promise<void> {
  for (const place of Object.keys(hookPlacements(() => {})))
    await aborts(options, `while a layer inside waits ${place}`, (stalled) => {
      let first = true
      const waits = hookPlacements((ctx) => {
        if (!first) return
        first = false
        stalled()
        return untilAborted(ctx.signal)
      })
      const reached = scope === 'tool' || place === 'on the way out'
      return {
        steps: reached && scope !== 'model' ? [...defaultSteps, ...defaultSteps] : ['Hello.', ...defaultSteps],
        inside: [at(scope, makeLayer(options), waits[place] as never)],
      }
    })
}

/** Aborts a run, awaited and read, once the scene reports that it stalls. Then runs the session again. */
async function aborts(
  options: LayerUnderTest,
  when: string,
  sceneOf: (stalled: () => unknown) => Scene,
): Promise<void> {
  for (const read of [false, true]) {
    let reached = false
    const bench = makeBench(
      options,
      sceneOf(() => (reached = true)),
    )
    const session = bench.session()
    const { result, error } = await runTurn(bench, session, undefined, {
      read,
      async meanwhile(run) {
        let over = false
        void run.settled().then(() => (over = true))
        await advanceUntil(bench, () => reached || over)
        run.abort('planted')
      },
    })
    check(reached, `The run ended before an abort ${when} was possible, because the layer does not call next()`)
    check(result === undefined, `An abort ${when} ends the run, but it ended ${result?.status}`)
    checkAborted(error, when)
    checkEqual(bench.model.closed, bench.model.calls, `An abort ${when} closes the model's stream`)
    completed(await runTurn(bench, session), `The session is run again after an abort ${when}`)
  }
}

function checkAborted(error: unknown, when: string): void {
  const { name } = (error ?? {}) as { name?: unknown }
  check(name === 'AbortError', `An abort ${when} ends the run with an AbortError, but it ended with ${show(error)}`)
}
