import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { memoryEventLog, memoryLedger, memoryStore } from '../../store/src/index.ts'
import { Agent, defineMiddleware, toolResult } from '../src/index.ts'
import { checkOptions } from '../src/internal.ts'
import { build, settled } from './kit.ts'

const model = { id: 'm', stream: async function* () {} }
const tool = { name: 'pay', description: 'Pays.', schema: z.object({}), execute: () => 'paid' }
const withTool = (more: object) => () => new Agent({ model, tools: [{ ...tool, ...more }] })
const withOptions = (more: object) => () => new Agent({ model, ...more })

describe('an option that does not exist', () => {
  it.each<[string, () => unknown, string, string]>([
    ['a tool', withTool({ requiresApproval: true }), 'tool.invalid', 'Did you mean "requireApproval"?'],
    ['a tool', withTool({ needsApproval: true }), 'tool.invalid', 'Did you mean "requireApproval"?'],
    ['a tool', withTool({ inputSchema: z.object({}) }), 'tool.invalid', 'Did you mean "schema"?'],
    ['a tool', withTool({ parameters: {} }), 'tool.invalid', 'Did you mean "schema"?'],
    ['a tool', withTool({ input_schema: {} }), 'tool.invalid', 'Did you mean "schema"?'],
    ['a tool', withTool({ execute: undefined, handler: () => 1 }), 'tool.invalid', 'Did you mean "execute"?'],
    ['a tool', withTool({ providerExecuted: { id: 'x', arg: {} } }), 'tool.invalid', 'Did you mean "args"?'],
    ['a tool', withTool({ flow: { send: true } }), 'tool.invalid', 'Known keys are sends,'],
    ['approvals', withOptions({ approvals: { secrt: 's' } }), 'agent.options', 'Did you mean "secret"?'],
    ['approvals', withOptions({ approvals: { canDecide: () => true } }), 'agent.options', 'Did you mean "canApprove"?'],
    ['settings', withOptions({ settings: { temprature: 1 } }), 'agent.options', 'Did you mean "temperature"?'],
    ['settings', withOptions({ settings: { maxTokens: 1 } }), 'agent.options', 'Did you mean "maxOutputTokens"?'],
    ['settings', withOptions({ settings: { topK: 1 } }), 'agent.options', 'Give it to the provider'],
    ['an agent', withOptions({ temperature: 0 }), 'agent.options', 'It belongs to settings'],
    ['an agent', withOptions({ system: 'Be brief.' }), 'agent.options', 'Did you mean "instructions"?'],
    ['an agent', withOptions({ maxTurns: 3 }), 'agent.options', 'Did you mean "maxSteps"?'],
    ['an agent', withOptions({ middleware: [] }), 'agent.options', 'agent.use(layer)'],
    ['a session', () => new Agent({ model }).session({ threadId: 'a' } as never), 'run.options', 'Did you mean "id"?'],
    ['a session', () => new Agent({ model }).session({ userId: 'a' } as never), 'run.options', 'as the principal'],
    ['fork()', () => new Agent({ model }).session().fork({ to: 't' } as never), 'run.options', '{ at }'],
    [
      'memoryStore()',
      () => memoryStore({ recordRetentio: 1 } as never),
      'options.invalid',
      'Did you mean "recordRetention"?',
    ],
    ['memoryEventLog()', () => memoryEventLog({ ttl: 1 } as never), 'options.invalid', 'Available: '],
    [
      'memoryLedger()',
      () => memoryLedger({ maxAccount: 1 } as never),
      'options.invalid',
      'Did you mean "maxAccounts"?',
    ],
    ['toolResult()', () => toolResult({ content: '', error: true } as never), 'tool.invalid', 'Available: '],
    [
      'a state field',
      () => new Agent({ model }).use({ name: 'a', state: { 'a:b': { default: 0, reduce: () => 0 } } } as never),
      'state.invalid',
      'Did you mean "reducer"?',
    ],
  ])('of %s is refused with a hint (%#)', (_, make, code, message) => {
    expect(make).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }))
  })

  it.each<[object, string]>([
    [{ temperature: 0 }, 'It belongs to settings'],
    [{ settings: { topp: 1 } }, 'Did you mean "topP"?'],
    [{ schema: z.object({}) }, 'Did you mean "output"?'],
    [{ abortSignal: AbortSignal.abort() }, 'Did you mean "signal"?'],
    [{ maxTurns: 1 }, 'Did you mean "maxSteps"?'],
    [{ tools: [] }, 'It belongs to the agent'],
    [{ timeout: 5 }, 'AbortSignal.timeout(ms)'],
    [{ output: { schema: z.object({}), strategie: 'tool' } }, 'Did you mean "strategy"?'],
    [{ clientTools: [{ name: 'a', description: '', inputSchema: {} }] }, 'Did you mean "jsonSchema"?'],
    [
      { clientTools: [{ ...tool, jsonSchema: {}, schema: undefined, execute: undefined }] },
      'Did you mean "jsonSchema"?',
    ],
  ])('of a run rejects the run with a hint (%#)', async (options, message) => {
    const { agent, model } = build(['done'])
    const { error } = await settled(agent.run('hi', options as never))
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
    expect(model.calls).toBe(0)
  })

  it('of next(), block() or once() fails the run, and is not passed over', async () => {
    const wrong = [
      defineMiddleware({ name: 'a', turn: (_, next) => next({ sgnal: AbortSignal.abort() } as never) }),
      defineMiddleware({ name: 'a', turn: (ctx) => ctx.block('no', { replay: 'x' } as never) }),
      defineMiddleware({
        name: 'a',
        async turn(ctx, next) {
          await ctx.once('k', () => 1, { pre: 'turn' } as never)
          await next()
        },
      }),
      defineMiddleware({ name: 'a', model: () => ({ txt: 'hi' }) as never }),
    ]
    const codes = await Promise.all(
      wrong.map(async (layer) => (await settled(build(['done'], [layer]).agent.run('hi'))).error as { code?: string }),
    )
    expect(codes.map(({ code }) => code)).toEqual(['layer.invalid', 'layer.invalid', 'layer.invalid', 'layer.result'])
  })

  it('in an instance of a class is not refused', () => {
    class Pay {
      name = 'pay'
      description = 'Pays.'
      jsonSchema = { type: 'object' }
      #account = 'a'
      helper = 1
      execute() {
        return this.#account
      }
    }
    expect(() => new Agent({ model, tools: [new Pay()] })).not.toThrow()
  })

  it('is refused in objects of another realm and without a prototype, and not where only the prototype has it', () => {
    const check = (given: object) => () => checkOptions(given, { a: true }, 'f()', 'options.invalid')
    expect(check(Object.assign(Object.create(null), { b: 1 }))).toThrow('f() does not know the option b.')
    expect(check(JSON.parse('{"__proto__": 1}'))).toThrow('the option __proto__')
    expect(check({ constructor: 1 })).toThrow('the option constructor')
    expect(check(Object.create({ b: 1 }))).not.toThrow()
  })

  it.each([null, 5, 'a', [], () => 1])('cannot be looked for in what is no object (%#)', (given) => {
    expect(() => new Agent({ model }).session(given as never)).toThrow('A session takes an object of options')
  })
})

describe('an agent without options', () => {
  it.each([undefined, null, {}])('says that it needs a model: %j', (given) => {
    const make = () => new (Agent as unknown as new (options?: unknown) => unknown)(given)
    expect(make).toThrow(
      expect.objectContaining({ code: 'agent.options', message: expect.stringContaining('needs a model') }),
    )
  })
})
