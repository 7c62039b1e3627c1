import { setTimeout as wait } from 'node:timers/promises'
import * as guard from '../../../src/guard.ts'
import { Agent, delegate, type Middleware, type Session } from '../../../src/index.ts'
import * as memory from '../../../src/memory.ts'
import * as observe from '../../../src/observe.ts'
import { type ScriptedStep, scriptedModel } from '../../../src/testing.ts'
import * as tools from '../../../src/tools.ts'
import { dana, type Kind, tool } from '../world.ts'

const call = (name: string, args: object = {}, callId = 'c1'): ScriptedStep => ({
  toolCalls: [{ name, callId, args: args as never }],
})
const childSteps: ScriptedStep[] = [call('find', { q: 'x' }, 'f1'), 'found it']
const child = (name = 'child', layers: readonly Middleware[] = []) =>
  new Agent({ name, model: scriptedModel(childSteps), tools: [tool('find')] }).use([...layers])
const both: ScriptedStep = {
  toolCalls: [
    { name: 'ada', callId: 'c1', args: { task: 'a' } },
    { name: 'bob', callId: 'c2', args: { task: 'b' } },
  ],
}
const own: Middleware = { name: 'own-cap', tool: (ctx) => ctx.deny('own rule') }
const abortAfter = (ms: number) => async (session: Session) => {
  const run = session.run('hi')
  await wait(ms)
  run.abort('the user left')
  await run
}
const slow = () => ({ options: { tools: [tool('slow', { execute: () => new Promise(() => {}) })] } })
const steers = (message: string) => async (session: Session) => {
  const run = session.run('hi')
  await wait(10)
  run.steer(message).catch(() => {})
  await run
}
const slowly = () => ({ options: { tools: [tool('slow', { execute: () => wait(40, 'slowly') })] } })

export const runs: readonly Kind[] = [
  { title: 'one answer', steps: ['hello'] },
  { title: 'a tool call', steps: [call('work', { n: 1 }), 'done'] },
  {
    title: 'three turns of a session',
    steps: ['one', call('work'), 'two', 'three'],
    async play(session) {
      for (const input of ['a', 'b', 'c']) await session.run(input)
    },
  },
  {
    title: 'too many steps',
    steps: [call('work'), call('work', {}, 'c2'), 'never'],
    play: (session) => session.run('hi', { maxSteps: 2 }),
  },
  {
    title: 'a sub-agent',
    steps: [call('child', { task: 'find x' }), 'done'],
    parts: () => ({ layers: [tools.agent({ agent: child(), description: 'Finds' })] }),
  },
  {
    title: 'a sub-agent with an own layer that denies',
    steps: [call('child', { task: 'find x' }), 'done'],
    parts: () => ({ layers: [tools.agent({ agent: child('child', [own]), description: 'Finds' })] }),
  },
  {
    title: 'a sub-agent with an inherited layer',
    steps: [call('child', { task: 'find x' }), 'done'],
    parts: () => ({
      layers: [guard.policy({ deny: ['find'] }), tools.agent({ agent: child(), description: 'Finds' })],
    }),
  },
  {
    title: 'two sub-agents at once',
    steps: [both, 'done'],
    parts: () => ({
      layers: [
        tools.agent({ agent: child('ada'), description: 'Finds' }),
        tools.agent({ agent: child('bob'), description: 'Finds' }),
      ],
    }),
  },
  {
    title: 'a sub-agent in an own tool',
    steps: [call('research', { task: 'find x' }), 'done'],
    parts() {
      const inner = child()
      const execute = async ({ task }: { task: string }, ctx: never) => (await delegate(ctx, inner, task))?.text
      return { options: { tools: [tool('research', { execute })] } }
    },
    notes: ['sub-agent of tool research not entered'],
  },
  { title: 'a steered message', steps: [call('slow'), 'as you wish'], parts: slowly, play: steers('and quickly') },
  {
    title: 'a steered message with personal data',
    steps: [call('slow'), 'as you wish'],
    parts: () => ({ ...slowly(), layers: [guard.pii({ types: ['email'] })] }),
    play: steers('write to ann@example.com'),
  },
  {
    title: 'a steered message that a guard refuses',
    steps: [call('slow'), 'done'],
    parts: () => ({ ...slowly(), layers: [guard.content({ keywords: ['forbidden'] })] }),
    play: steers('something forbidden'),
  },
  { title: 'an abort in a model call', steps: [{ text: 'half', stall: true }], play: abortAfter(20) },
  { title: 'an abort in a tool', steps: [call('slow'), 'never'], parts: slow, play: abortAfter(20) },
  {
    title: 'options of the run',
    steps: ['ok'],
    play: (session) => session.run('hi', { settings: { temperature: 0 }, model: 'some/model' } as never),
    parts: () => ({ options: { resolveModel: () => scriptedModel(['ok'], { id: 'some/model' }) } }),
  },
  {
    title: 'a context',
    steps: ['ok'],
    parts: () => ({
      layers: [{ name: 'own', model: (ctx, next) => (ctx.context.loud ? next() : 'quiet') } satisfies Middleware],
    }),
    play: (session) => session.run('hi', { context: { loud: true } }),
  },
  {
    title: 'an image',
    steps: ['a cat'],
    play: (session) =>
      session.run([
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image', data: new Uint8Array([1, 2, 3]), mediaType: 'image/png' },
          ],
        },
      ] as never),
  },
  { title: 'instructions of a function', steps: ['ok'], parts: () => ({ options: { instructions: () => 'Be brief.' } }) },
  {
    title: 'a value that a layer draws',
    steps: ['ok'],
    parts: () => ({
      layers: [
        {
          name: 'own',
          async model(ctx, next) {
            const draw = await ctx.once('draw', () => Math.random(), { per: 'attempt' })
            ctx.addSystemMessage(`draw ${draw}`)
            return next()
          },
        } satisfies Middleware,
      ],
    }),
  },
  {
    title: 'a layer that reads the clock',
    steps: [call('work'), 'ok'],
    parts: () => ({
      layers: [
        {
          name: 'own',
          model(ctx, next) {
            ctx.addSystemMessage(`now ${ctx.clock.now()}`)
            return next()
          },
        } satisfies Middleware,
      ],
    }),
  },
  {
    title: 'the state of a session',
    steps: ['one', 'two'],
    parts: () => ({
      layers: [
        {
          name: 'own',
          state: { 'own:count': { default: 0 } },
          async turn(ctx, next) {
            ctx.state['own:count']++
            await next()
          },
          model(ctx, next) {
            ctx.addSystemMessage(`turn ${ctx.state['own:count']}`)
            return next()
          },
        } satisfies Middleware,
      ],
    }),
    async play(session) {
      await session.run('a')
      await session.run('b')
    },
  },
  {
    title: 'a history that is truncated',
    steps: ['one', 'two', 'three'],
    parts: () => ({ layers: [memory.truncate({ maxMessages: 2 })] }),
    async play(session) {
      for (const input of ['a', 'b', 'c']) await session.run(input)
    },
  },
  {
    title: 'a plan',
    steps: [
      call('plan', { items: [{ title: 'look', status: 'pending' }] }),
      'done',
    ],
    parts: () => ({ layers: [memory.plan()] }),
  },
  {
    title: 'usage and an onion',
    steps: [call('work'), 'done'],
    parts: () => ({ layers: [observe.usage(), observe.onion({ onSpan() {} } as never)] }),
  },
  {
    title: 'a session without an id',
    steps: ['ok'],
    play: (_, agent) => agent.run('hi', { session: { principal: dana } } as never),
  },
  {
    title: 'a turn with an id of its own',
    steps: ['ok'],
    play: (session) => session.run('hi', { turnId: 'my:once:turn' }),
  },
]
