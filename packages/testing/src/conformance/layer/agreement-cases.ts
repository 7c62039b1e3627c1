import { type Message, textOf } from '@allium/core'
import { streamedText } from '../../matchers/streamed-text.ts'
import { check, checkEqual } from '../check.ts'
import { show } from '../difference.ts'
import { makeBench, type Scene } from './bench.ts'
import { at, type CallScope } from './hook-placements.ts'
import { type LayerUnderTest, makeLayer } from './layer-under-test.ts'
import { completed, runTurn, type TurnRun } from './run.ts'
import { macrotask } from './unhandled.ts'

export const agreementCases = {
  async 'gives the same read as awaited'(options: LayerUnderTest) {
    await bothWays(options)
  },

  'turn: awaits next()': (options: LayerUnderTest) => awaits(options, 'turn'),
  'model: awaits next()': (options: LayerUnderTest) => awaits(options, 'model'),
  'tool: awaits next()': (options: LayerUnderTest) => awaits(options, 'tool'),

  async 'tool: keeps calls apart that run at once'(options: LayerUnderTest) {
    const toolCalls = [1, 2, 3].map((n) => ({ name: 'work', args: { n } }))
    const ran = async (toolConcurrency: number) => {
      const bench = makeBench(options, {
        steps: [{ toolCalls }, 'All is well today.'],
        agent: { toolConcurrency },
        async work({ n }) {
          for (let i = Number(n); i < 4; i++) await macrotask()
          return `worked ${n}`
        },
      })
      return comparable(await runTurn(bench, bench.session()))
    }
    checkEqual(await ran(3), await ran(1), 'Concurrent tools return the same results as sequential ones')
  },
}

/** Runs a scene awaited and read, and returns the outcome that both must share. */
export async function bothWays(options: LayerUnderTest, scene: Scene = {}): Promise<ReturnType<typeof comparable>> {
  const ran = async (read: boolean) => {
    const bench = makeBench(options, scene)
    const one = await runTurn(bench, bench.session(), undefined, { read })
    check(
      one.result !== undefined,
      `A run that is ${read ? 'read' : 'awaited'} ends well, but failed: ${show(one.error)}`,
    )
    return one
  }
  const [awaited, streamed] = [await ran(false), await ran(true)]
  checkEqual(comparable(streamed), comparable(awaited), 'A streamed run has the same result as an awaited one')
  if (streamed.result?.status === 'completed')
    checkEqual(
      streamedText(streamed.events as never),
      textsOf(streamed.result.messages),
      'The history has the streamed text',
    )
  return comparable(awaited)
}

/** Returns the outcome of a run without the values that differ between runs. */
export function comparable({ result, state, history }: TurnRun) {
  const { text, output, status, reason, usage, toolCalls = [] } = result ?? {}
  const calls = toolCalls.map(({ callId, name, args, result: { content, status: callStatus } }) => ({
    callId,
    name,
    args,
    content,
    status: callStatus,
  }))
  return { text, output, status, reason, usage, calls, state, history }
}

async function awaits(options: LayerUnderTest, scope: CallScope): Promise<void> {
  const run = async (slow: boolean) => {
    const pause = async () => void (slow && (await macrotask()))
    const bench = makeBench(options, {
      inside: [
        at(scope, makeLayer(options), async (_, next) => {
          await pause()
          const given = await next()
          await pause()
          return given
        }),
      ],
    })
    return runTurn(bench, bench.session())
  }
  const slowRun = await run(true)
  if (options.steps === undefined) completed(slowRun, 'A slow next()')
  check(slowRun.result !== undefined, `A slow next() made the run fail: ${show(slowRun.error)}`)
  checkEqual(comparable(slowRun), comparable(await run(false)), 'A slow next() changes nothing')
}

function textsOf(messages: readonly Message[]): string {
  return messages.flatMap((message) => (message.role === 'assistant' ? [textOf(message)] : [])).join('')
}
