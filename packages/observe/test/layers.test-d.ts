import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { pino } from 'pino'
import { expectTypeOf } from 'vitest'
import { audit, duration, log, type Timing, type ToolStats, tools, type Verification, verify } from '../src/index.ts'
import { metrics, trace } from '../src/otel.ts'
import { log as pinoLog } from '../src/pino.ts'

const agent = new Agent({ model: scriptedModel([]) })
  .use(audit({ sink: (line) => line.length }))
  .use(log({ logger: pino() }))
  .use(trace())
  .use(metrics())
  .use(tools())
  .use(duration({ as: 'times' }))
const { state } = await agent.run('hello')
expectTypeOf(state['observe:tools:calls']).toEqualTypeOf<Readonly<Record<string, ToolStats>>>()
expectTypeOf(state['times:turn']).toEqualTypeOf<Timing>()
// @ts-expect-error: nobody declares it
state['observe:log:lines']
agent.on('observe:duration', ({ ms }) => expectTypeOf(ms).toEqualTypeOf<number>())

expectTypeOf(verify('')).toEqualTypeOf<Promise<Verification>>()
// @ts-expect-error: it needs a sink
audit()
// @ts-expect-error: one of two
audit({ sink() {}, onError: 'ignore' })
// @ts-expect-error: a console is not called as pino is
log({ logger: { log() {} } })
pinoLog({ logger: pino(), content: true })
