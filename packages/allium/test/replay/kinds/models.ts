import { setTimeout as wait } from 'node:timers/promises'
import * as guard from '../../../src/guard.ts'
import type { Middleware } from '../../../src/index.ts'
import * as model from '../../../src/model.ts'
import { type ScriptedStep, scriptedModel } from '../../../src/testing.ts'
import * as tools from '../../../src/tools.ts'
import { type Kind, tool } from '../world.ts'

const down = () => Object.assign(new Error('overloaded'), { status: 503 })
const call = (name: string, callId = 'c1'): ScriptedStep => ({ toolCalls: [{ name, callId, args: { n: 1 } }] })
const twice = async (session: { run(input: string): PromiseLike<unknown> }) => {
  await session.run('hi')
  await session.run('hi')
}
const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
}
const retriesItself: Middleware = {
  name: 'own',
  async model(_, next) {
    try {
      return await next()
    } catch {
      return next()
    }
  },
}

export const models: readonly Kind[] = [
  {
    title: 'a retry',
    steps: [{ error: down() }, 'ok'],
    parts: () => ({ layers: [model.retry({ attempts: 3, delay: 1 })] }),
  },
  {
    title: 'retries with a delay that all fail',
    steps: [{ error: down() }, { error: down() }],
    parts: () => ({ layers: [model.retry({ attempts: 2, delay: 20 })] }),
  },
  {
    title: 'a retry after output',
    steps: [{ text: 'half of', error: down() }, 'all of it'],
    parts: () => ({ layers: [model.retry({ attempts: 2, delay: 1 })] }),
  },
  { title: 'an own retry', steps: [{ error: new Error('x') }, 'ok'], parts: () => ({ layers: [retriesItself] }) },
  { title: 'a call that fails', steps: [{ error: down() }] },
  {
    title: 'a fallback',
    steps: [{ error: down() }],
    parts: () => ({ layers: [model.fallback({ models: [scriptedModel(['from b'], { id: 'b' })] })] }),
  },
  { title: 'a cut stream', steps: [{ text: 'half', cut: true }] },
  {
    title: 'a cut stream and a retry',
    steps: [{ text: 'half', cut: true }, 'whole'],
    parts: () => ({ layers: [model.retry({ attempts: 2, delay: 1 })] }),
  },
  {
    title: 'a model that is too slow',
    steps: [{ text: 'half', stall: true }],
    parts: () => ({ layers: [guard.timeout({ model: 30 })] }),
  },
  {
    title: 'a model that is too slow, and a retry',
    steps: [{ stall: true }, 'fast'],
    parts: () => ({ layers: [model.retry({ attempts: 2, delay: 1 }), guard.timeout({ model: 30 })] }),
  },
  {
    title: 'a tool that is too slow',
    steps: [call('slow'), 'without it'],
    parts: () => ({ options: { tools: [tool('slow', { timeout: 20, execute: () => new Promise(() => {}) })] } }),
  },
  {
    title: 'a turn that is too slow',
    steps: [call('slow'), 'never'],
    parts: () => ({
      options: { tools: [tool('slow', { execute: () => new Promise(() => {}) })] },
      layers: [guard.timeout({ turn: 30 })],
    }),
  },
  {
    title: 'a breaker that opens',
    steps: [{ error: down() }, 'never'],
    parts: () => ({ layers: [model.breaker({ threshold: 1 })] }),
    async play(session) {
      await session.run('a').catch(() => {})
      await session.run('b')
    },
    except: {
      why: 'the breaker is open in the memory of the process that recorded',
      fields: ['model 0: answer', 'model 0: failed'],
    },
  },
  {
    title: 'a hit of the model cache',
    steps: ['cached'],
    parts: () => ({ layers: [model.cache({ ttl: 60_000 })] }),
    play: async (_, agent) => {
      await agent.session({ id: 's1', principal: { tenantId: 'acme' } }).run('hi')
      await agent.session({ id: 's2', principal: { tenantId: 'acme' } }).run('hi')
    },
  },
  {
    title: 'a hit of the tool cache',
    steps: [call('work'), 'one', call('work', 'c2'), 'two'],
    parts: () => ({ layers: [tools.cache({ tools: ['work'], ttl: 60_000 })] }),
    play: twice,
  },
  {
    title: 'a retry of a tool',
    steps: [call('flaky'), 'done'],
    parts() {
      let calls = 0
      const execute = async () => {
        calls++
        if (calls === 1) throw Object.assign(new Error('busy'), { status: 503 })
        return 'worked'
      }
      return { options: { tools: [tool('flaky', { execute })] }, layers: [tools.retry({ tools: ['flaky'], delay: 1 })] }
    },
  },
  {
    title: 'structured output',
    steps: ['{"city":"Bern"}'],
    play: (session) => session.run('where', { output: { jsonSchema: schema } }),
  },
  {
    title: 'structured output that is repaired',
    steps: ['{"city":1}', '{"city":"Bern"}'],
    parts: () => ({ layers: [model.structured({ schema: schema as never })] }),
    play: (session) => session.run('where', { output: { jsonSchema: schema } }),
  },
  {
    title: 'structured output by a tool',
    steps: [call('work'), { toolCalls: [{ name: 'answer', callId: 'c2', args: { city: 'Bern' } }] }],
    play: (session) => session.run('where', { output: { jsonSchema: schema, strategy: 'tool' } }),
  },
  {
    title: 'a route to another model',
    steps: ['never'],
    parts: () => ({
      layers: [model.route({ rules: [{ when: () => true, model: scriptedModel(['from c'], { id: 'c' }) }] } as never)],
    }),
  },
  {
    title: 'settings of a layer',
    steps: ['ok'],
    parts: () => ({ layers: [model.settings({ temperature: 0.2 } as never)] }),
  },
  {
    title: 'marks for the prompt cache',
    steps: [call('work'), 'ok'],
    parts: () => ({ layers: [model.promptCache()], options: { instructions: 'Be brief. '.repeat(400) } }),
  },
  {
    title: 'tools that run at once and end in another order',
    steps: [
      {
        toolCalls: [
          { name: 'slow', callId: 'c1' },
          { name: 'fast', callId: 'c2' },
        ],
      },
      'done',
    ],
    parts: () => ({
      options: {
        tools: [
          tool('slow', { execute: () => wait(15, 'slow') }),
          tool('fast', { execute: () => wait(2, 'fast') }),
        ],
      },
    }),
  },
  { title: 'reasoning', steps: [{ reasoning: 'because', text: 'so' }] },
]
