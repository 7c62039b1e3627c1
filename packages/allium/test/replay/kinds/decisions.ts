import { canary, shadow } from '../../../src/index.ts'
import * as guard from '../../../src/guard.ts'
import type { Middleware } from '../../../src/index.ts'
import type { ScriptedStep } from '../../../src/testing.ts'
import { type Kind, tool } from '../world.ts'

const call = (name: string, args: object | string = {}, callId = 'c1'): ScriptedStep => ({
  toolCalls: [{ name, callId, args: args as never }],
})
const layers = (...list: Middleware[]) => () => ({ layers: list })
const typed = tool('work', {
  jsonSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false },
})

export const decisions: readonly Kind[] = [
  {
    title: 'a tool that a policy denies',
    steps: [call('work'), 'done'],
    parts: () => ({ layers: [guard.policy({ deny: ['work'] })] }),
  },
  {
    title: 'a tool that the role may not use',
    steps: [call('work'), 'done'],
    parts: () => ({ layers: [guard.policy({ rules: [{ tool: 'work', roles: ['boss'] }] })] }),
  },
  {
    title: 'a tool that the role may use',
    steps: [call('work'), 'done'],
    parts: () => ({ layers: [guard.policy({ rules: [{ tool: 'work', roles: ['agent'] }] })] }),
  },
  {
    title: 'a denial of an own layer',
    steps: [call('work'), 'done'],
    parts: layers({ name: 'own', tool: (ctx) => ctx.deny('not today') }),
  },
  {
    title: 'a layer that answers a call',
    steps: [call('work'), 'done'],
    parts: layers({ name: 'own', tool: (ctx) => ctx.skipCall('mine') }),
  },
  {
    title: 'a layer that changes arguments',
    steps: [call('work', { n: 1 }), 'done'],
    parts: layers({
      name: 'own',
      tool(ctx, next) {
        ctx.modifyArgs({ n: 2 })
        return next()
      },
    }),
  },
  {
    title: 'a layer that changes a result',
    steps: [call('work'), 'done'],
    parts: layers({ name: 'own', tool: async (_, next) => ({ ...(await next()), content: 'other' }) }),
  },
  {
    title: 'invalid arguments',
    steps: [call('work', { n: 'x' }), call('work', { n: 1 }, 'c2'), 'done'],
    parts: () => ({ options: { tools: [typed] } }),
  },
  { title: 'broken arguments', steps: [call('work', '{"n":'), call('work', { n: 1 }, 'c2'), 'done'] },
  { title: 'a tool that does not exist', steps: [call('nope'), 'done'] },
  {
    title: 'a tool that throws',
    steps: [call('work'), 'sorry'],
    parts: () => ({ options: { tools: [tool('work', { execute: () => Promise.reject(new Error('down')) })] } }),
  },
  {
    title: 'the result of a tool as data',
    steps: [call('work'), 'done'],
    parts: () => ({ options: { tools: [tool('work', { execute: () => ({ rows: [1, 2], at: null }) })] } }),
  },
  {
    title: 'too many tool calls',
    steps: [call('work'), call('work', {}, 'c2'), 'done'],
    parts: () => ({ layers: [guard.maxToolCalls({ limit: 1 })] }),
  },
  {
    title: 'too many model calls',
    steps: [call('work'), call('work', {}, 'c2'), 'done'],
    parts: () => ({ layers: [guard.maxModelCalls({ limit: 2 })] }),
  },
  {
    title: 'a layer that blocks',
    steps: ['never'],
    parts: layers({ name: 'own', turn: (ctx) => ctx.block('closed', { code: 'own.closed', reply: 'We are closed.' }) }),
  },
  {
    title: 'a layer that blocks after an answer',
    steps: ['secret'],
    parts: layers({
      name: 'own',
      async turn(ctx, next) {
        await next()
        if (ctx.output?.includes('secret')) ctx.block('a secret')
      },
    }),
  },
  {
    title: 'a layer that aborts',
    steps: [call('work'), 'never'],
    parts: layers({ name: 'own', tool: (ctx) => ctx.abort('enough') }),
  },
  {
    title: 'a layer that stops the loop',
    steps: [call('work'), 'never'],
    parts: layers({
      name: 'own',
      tool(ctx, next) {
        ctx.stop('enough')
        return next()
      },
    }),
  },
  {
    title: 'a layer that fails',
    steps: ['never'],
    parts: layers({ name: 'own', model: () => Promise.reject(new Error('broken')) }),
  },
  {
    title: 'a rate limit that is reached',
    steps: ['one', 'never'],
    parts: () => ({ layers: [guard.rateLimit({ limit: 1, window: 'day' })] }),
    async play(session) {
      await session.run('a')
      await session.run('b')
    },
  },
  {
    title: 'a budget that is used up',
    steps: [{ text: 'one', usage: { inputTokens: 900, outputTokens: 200 } }, 'never'],
    parts: () => ({ layers: [guard.budget({ limit: 1_500, unit: 'tokens', per: 'user' })] }),
    async play(session) {
      await session.run('a')
      await session.run('b')
    },
  },
  {
    title: 'a budget of the turn that stops it',
    steps: [{ toolCalls: [{ name: 'work', callId: 'c1' }], usage: { inputTokens: 900, outputTokens: 900 } }, 'never'],
    parts: () => ({ layers: [guard.budget({ limit: 1_500, unit: 'tokens', per: 'turn', onLimit: 'stop' })] }),
  },
  {
    title: 'a concurrency limit with room',
    steps: [call('work'), 'done'],
    parts: () => ({ layers: [guard.concurrency({ limit: 2 })] }),
  },
  {
    title: 'a canary of a guard',
    steps: [call('work'), 'done'],
    parts: () => ({ layers: [canary(guard.policy({ deny: ['work'] }), { percent: 50 })] }),
  },
  {
    title: 'a shadow of a guard',
    steps: [call('work'), 'done'],
    parts: () => ({ layers: [shadow(guard.policy({ deny: ['work'] }))] }),
  },
]
