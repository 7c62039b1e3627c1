import {
  Agent,
  AlliumError,
  type Decision,
  defineMiddleware,
  delegate,
  type Middleware,
  type RunOptions,
  type RunResult,
  type Session,
  type Tool,
} from '@allium/core'
import { memoryStore } from '@allium/store'
import { manualClock, type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { persist } from '../src/index.ts'

interface Case {
  status: string
  steps: readonly ScriptedStep[]
  layer?: Middleware
  output?: RunOptions['output']
  /** Decides the pending calls in a second run, which is then the compared one. */
  decisions?: Record<string, Decision>
}

const total = { default: 0, reducer: (all: number, more: number) => all + more }
const counter = defineMiddleware({
  name: 'counter',
  state: { 'counter:session': total, 'counter:turn': { ...total, scope: 'turn' } },
  async model(ctx, next) {
    ctx.state['counter:session'] = 1
    ctx.state['counter:turn'] = 1
    return next()
  },
})

function toolOf(name: string, execute: Tool['execute'], requireApproval = false): Tool {
  return { name, description: name, jsonSchema: { type: 'object' }, execute, requireApproval }
}

/** A process: its own agent on the shared store. */
function processOn(store: ReturnType<typeof memoryStore>, steps: readonly ScriptedStep[], layer?: Middleware) {
  const model = scriptedModel(steps)
  const inside: ScriptedStep[] = [{ toolCalls: [{ name: 'pay', callId: 'p1' }] }, 'Helped.']
  const pay = toolOf('pay', () => ({ paid: true }), true)
  const helper = new Agent({ name: 'helper', model: scriptedModel(inside), tools: [pay] })
  const tools = [
    pay,
    toolOf('look', () => ({ found: [1, 2] })),
    toolOf('read', () => 'text'),
    toolOf('fail', () => Promise.reject(new Error('No.'))),
    toolOf('help', async (_, ctx) => (await delegate(ctx, helper, 'Help'))?.text),
  ]
  const agent = new Agent({ model, tools, clock: manualClock(), logger: { warn() {}, error() {} } })
  const session = agent
    .use(persist({ store }))
    .use(counter)
    .use(layer ?? { name: 'none' })
    .session({ id: 'chat', principal: { tenantId: 'acme', userId: 'ann' } })
  return { session, model }
}

/** Returns the result as clients see it, or what the error has of it. */
async function endOf(session: Session, { decisions, output }: Case): Promise<Record<string, unknown>> {
  const options = { idempotencyKey: 'k1', ...(output !== undefined && { output }) }
  const run = decisions === undefined ? session.run('Go', options) : session.resume(decisions, options)
  const end = await run.then(
    (result: RunResult) => result,
    (error: { code?: string; name: string; partial: object }) => ({
      status: error.code ?? error.name,
      ...error.partial,
    }),
  )
  return JSON.parse(JSON.stringify(end))
}

const call = (...names: string[]): ScriptedStep => ({
  text: 'I try.',
  toolCalls: names.map((name, at) => ({ name, callId: `c${at}`, args: { at } })),
})
const tried: ScriptedStep[] = [call('look'), 'A secret.']

const cases: Record<string, Case> = {
  'an answer': { status: 'completed', steps: ['Done.'] },
  'calls that succeed, fail, are denied, answered and unknown': {
    status: 'completed',
    steps: [call('look', 'read', 'fail', 'gone', 'help'), 'Done.'],
    layer: {
      name: 'gate',
      async tool(ctx, next) {
        if (ctx.tool.name === 'look') ctx.modifyArgs({ at: 'edited' })
        if (ctx.tool.name === 'read') ctx.deny('Not here.')
        return ctx.tool.name === 'help' ? { content: 'Given.', value: 'Given.' } : next()
      },
    },
  },
  'two steps of calls': { status: 'completed', steps: [call('look'), { toolCalls: [{ name: 'read' }] }, 'Done.'] },
  'a pending call': { status: 'suspended', steps: [call('look', 'pay')] },
  'a sub-agent that waits': { status: 'suspended', steps: [call('help', 'read')] },
  'an approved call': {
    status: 'completed',
    steps: [call('look', 'pay'), 'Done.'],
    decisions: { c1: { approve: true } },
  },
  'a denied call': { status: 'completed', steps: [call('pay', 'read'), 'Done.'], decisions: { c0: { deny: 'No.' } } },
  'one of two calls approved': {
    status: 'suspended',
    steps: [call('pay', 'pay')],
    decisions: { c0: { approve: true } },
  },
  'an approved call of a sub-agent': {
    status: 'completed',
    steps: [call('help'), 'Done.'],
    decisions: { 'c0/p1': { approve: true } },
  },
  'a block': {
    status: 'blocked',
    steps: tried,
    layer: {
      name: 'block',
      async model(ctx, next) {
        const response = await next()
        if (response.text.includes('secret')) ctx.block('Secret.', { code: 'guard.secret', reply: 'No.' })
        return response
      },
    },
  },
  'a stop': {
    status: 'stopped',
    steps: tried,
    layer: {
      name: 'stop',
      async tool(ctx, next) {
        ctx.stop('Enough.')
        return next()
      },
    },
  },
  'a failure': { status: 'model.failed', steps: [call('look'), { error: new AlliumError('model.failed', 'Down.') }] },
  'an abort': {
    status: 'AbortError',
    steps: tried,
    layer: {
      name: 'abort',
      async model(ctx, next) {
        if (ctx.callIndex === 1) ctx.abort('Too long.')
        return next()
      },
    },
  },
  'structured output': { status: 'completed', steps: [call('look'), '{"city":"Oslo"}'], output: citySchema() },
}

/** A schema whose output differs from its input. */
function citySchema(): RunOptions['output'] {
  const validate = (value: unknown) => ({ value: { ...(value as object), checked: true } })
  const jsonSchema = { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) }
  return { '~standard': { version: 1, vendor: 'test', validate, jsonSchema } } as never
}

describe('a run that is read from the store', () => {
  it.each(Object.entries(cases))('ends as it did in its process: %s', async (_, given) => {
    const store = memoryStore()
    const first = processOn(store, given.steps, given.layer)
    if (given.decisions !== undefined) await first.session.run('Go')
    const live = await endOf(first.session, given)
    const again = processOn(store, ['never'], given.layer)
    await again.session.open()
    const stored = await endOf(again.session, given)
    expect(live.status).toBe(given.status)
    expect([stored, again.model.calls]).toEqual([live, 0])
  })

  it('has the content of a result that a layer has cut', async () => {
    const layer: Middleware = {
      name: 'cut',
      async tool(_, next) {
        return { ...(await next()), content: '{"found":[1,' }
      },
    }
    const store = memoryStore()
    const steps = [call('look'), 'Done.']
    await processOn(store, steps, layer).session.run('Go', { idempotencyKey: 'k1' })
    const { session } = processOn(store, ['never'], layer)
    const { toolCalls } = await session.run('Go', { idempotencyKey: 'k1' })
    expect(toolCalls[0]?.result).toMatchObject({ content: '{"found":[1,', value: undefined, status: 'ok' })
  })
})
