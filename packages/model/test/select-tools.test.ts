import { Agent, type AnyMiddleware, type Message, type Middleware, textOf } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cache, type SelectToolsOptions, selectTools } from '../src/index.ts'

const call = (name: string): ScriptedStep => ({ toolCalls: [{ name }] })

/** An agent with the tools a, b, c and d. */
function scene(
  options: SelectToolsOptions<'model:selectTools'>,
  steps: readonly ScriptedStep[],
  more: AnyMiddleware[] = [],
) {
  const model = scriptedModel(steps)
  const ran: string[] = []
  const tools = ['a', 'b', 'c', 'd'].map((name) => ({
    name,
    description: `Does ${name}`,
    jsonSchema: { type: 'object' },
    execute: () => void ran.push(name),
  }))
  const log: string[] = []
  const note = (message: string) => void log.push(message)
  const agent = new Agent({ model, tools, logger: { warn: note, error: note } }).use(selectTools(options)).use(more)
  const shown = () => model.requests.map((request) => request.tools.map(({ name }) => name).join(''))
  return { agent, model, ran, shown, log }
}

const picks = (...names: string[]) => JSON.stringify({ tools: names })

describe('model.selectTools', () => {
  it('shows the tools of a list, in the agent’s order, and passes over names that are not known', async () => {
    const { agent, shown } = scene({ tools: ['c', 'a', 'nothing'] }, ['ok'])
    await agent.run('hi')
    expect(shown()).toEqual(['ac'])
  })

  it('asks a function at each call, which may wait', async () => {
    const tools: SelectToolsOptions['tools'] = async ({ stepIndex }) => (stepIndex === 0 ? ['a'] : ['b', 'c'])
    const { agent, shown, ran } = scene({ tools }, [call('a'), call('b'), 'ok'])
    await agent.run('hi')
    expect([shown(), ran]).toEqual([
      ['a', 'bc', 'bc'],
      ['a', 'b'],
    ])
  })

  it('does not run a tool that was not shown, and tells the model', async () => {
    const { agent, ran } = scene({ tools: ['a'] }, [{ toolCalls: [{ name: 'b' }, { name: 'a' }] }, 'ok'])
    const { toolCalls } = await agent.run('hi')
    expect(toolCalls.map(({ result: { status, content } }) => [status, content])).toEqual([
      ['denied', 'The tool "b" is not available now.'],
      ['ok', expect.anything()],
    ])
    expect(ran).toEqual(['a'])
  })

  it('shows what a model picks by the last message, and always some', async () => {
    const picker = scriptedModel([picks('d', 'b', 'rm -rf')])
    const { agent, shown } = scene({ model: picker, always: ['a'] }, ['ok'])
    const history: Message[] = [
      { role: 'user', content: 'before' },
      { role: 'assistant', content: 'yes' },
      { role: 'user', content: 'do "d"\nnow' },
    ]
    await agent.run(history)
    const asked = textOf(picker.requests[0]?.messages.at(-1) as Message)
    expect(shown()).toEqual(['abd'])
    expect(asked).toContain('- b: Does b')
    expect(asked).toContain('"do \\"d\\"\\nnow"')
    expect(asked).not.toContain('Does a')
    expect(asked).not.toContain('before')
  })

  it('keeps to the first ones that fit where the model picks more', async () => {
    const { agent, shown } = scene({ model: scriptedModel([picks('d', 'd', 'none', 'b', 'c')]), maxTools: 2 }, ['ok'])
    await agent.run('hi')
    expect(shown()).toEqual(['bd'])
  })

  it('does not ask where no more tools are open than it may pick', async () => {
    const picker = scriptedModel([])
    const { agent, shown } = scene({ model: picker, maxTools: 3, always: ['a'] }, ['ok'])
    await agent.run('hi')
    expect([shown(), picker.calls]).toEqual([['abcd'], 0])
  })

  it('picks once in a turn, and anew in the next', async () => {
    const picker = scriptedModel([picks('a'), picks()])
    const { agent, shown } = scene({ model: picker }, [call('a'), 'ok', 'ok'])
    const session = agent.session()
    await session.run('1')
    await session.run('2')
    expect([shown(), picker.calls]).toEqual([['a', 'a', ''], 2])
  })

  it.each<[string, ScriptedStep]>([
    ['fails', Object.assign(new Error('down'), { status: 503 })],
    ['gives no JSON', 'I would take a.'],
    ['gives no list', '{"tools": "a"}'],
    ['is cut', { text: '{"tools"', cut: true }],
  ])('shows all tools, and tells the log, where the model that picks %s', async (_, step) => {
    const { agent, shown, log, ran } = scene({ model: scriptedModel([step]) }, [call('d'), 'ok'])
    expect((await agent.run('hi')).status).toBe('completed')
    expect([shown(), ran]).toEqual([['abcd', 'abcd'], ['d']])
    expect(log).toEqual(['"model:selectTools" could not pick tools, so the model sees all of them.'])
  })

  it('ends with the run while it picks', async () => {
    let begin!: () => void
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const picker = scriptedModel([
      () => {
        begin()
        return { stall: true }
      },
    ])
    const { agent, model } = scene({ model: picker }, [])
    const run = agent.run('hi')
    await begun
    run.abort('enough')
    await expect(run).rejects.toMatchObject({ name: 'AbortError', reason: 'enough' })
    expect([picker.closed, model.calls]).toEqual([1, 0])
  })

  it('counts the tokens of picking in state and event, apart for each session', async () => {
    const steps = [picks('b', 'a'), 'no list', picks('c')].map((text) => ({
      text,
      usage: { inputTokens: 90, outputTokens: 9 },
    }))
    const { agent } = scene({ model: scriptedModel(steps, { id: 'small/1' }) }, ['ok', 'ok', 'ok'])
    const events: unknown[] = []
    agent.on('model:selectTools', (event) => events.push(event))
    const session = agent.session({ principal: { tenantId: 'acme' } })
    await session.run('1')
    const { state, usage } = await session.run('2')
    expect([state['model:selectTools:tokens'], usage.inputTokens]).toEqual([198, 10])
    expect(
      (await agent.run('3', { session: { principal: { tenantId: 'zeta' } } })).state['model:selectTools:tokens'],
    ).toBe(99)
    const event = {
      type: 'model:selectTools',
      layer: 'model:selectTools',
      model: 'small/1',
      inputTokens: 90,
      outputTokens: 9,
    }
    expect(events).toEqual([
      { ...event, tools: ['b', 'a'] },
      { ...event, tools: ['c'] },
    ])
  })

  it('runs the layers of `use` around picking, for the same principal', async () => {
    const seen: unknown[] = []
    const watch: AnyMiddleware = {
      name: 'watch',
      model(ctx, next) {
        seen.push(ctx.principal)
        return next()
      },
    }
    const { agent } = scene({ model: scriptedModel([picks('a')]), use: [watch] }, ['ok'])
    await agent.run('hi', { session: { principal: { tenantId: 'acme' } } })
    expect(seen).toEqual([{ tenantId: 'acme' }])
  })

  it('tells the model that picks what it is given as a hint', async () => {
    const picker = scriptedModel([picks('a')])
    await scene({ model: picker, instructions: 'Prefer a.' }, ['ok']).agent.run('hi')
    expect(textOf(picker.requests[0]?.messages[0] as Message)).toContain('Prefer a.')
  })

  it('leaves the tool that a run answers with', async () => {
    const { agent, shown } = scene({ tools: ['a'] }, [{ toolCalls: [{ name: 'answer', args: { n: 1 } }] }])
    const { output } = await agent.run('hi', { output: z.object({ n: z.number() }) })
    expect([shown()[0], output]).toEqual(['aanswer', { n: 1 }])
  })

  it.each<['required' | { name: string }, string, unknown]>([
    ['required', '', 'auto'],
    [{ name: 'b' }, 'b', { name: 'b' }],
  ])('agrees with the tool choice %j', async (toolChoice, tools, sent) => {
    const model = scriptedModel(['ok'])
    const b = { name: 'b', description: 'Does b', jsonSchema: {}, execute: () => 'b' }
    const agent = new Agent({ model, tools: [b] })
      .use('model', (ctx, next) => {
        ctx.toolChoice = toolChoice
        return next()
      })
      .use(selectTools({ tools: [] }))
    await agent.run('hi')
    expect([model.requests[0]?.tools.map(({ name }) => name).join(''), model.requests[0]?.toolChoice]).toEqual([
      tools,
      sent,
    ])
  })

  it('keeps to its choice when a turn goes on after an approval', async () => {
    const ask: Middleware = {
      name: 'ask',
      tool: (ctx, next) => (ctx.approval === undefined ? ctx.suspend({ reason: 'sure?' }) : next()),
    }
    const steps = [{ toolCalls: [{ name: 'b' }, { name: 'c' }] }, 'ok']
    const { agent, ran } = scene({ tools: ['a', 'b'] }, steps, [ask])
    const session = agent.session()
    const { pending } = await session.run('hi')
    expect(pending.map(({ name }) => name)).toEqual(['b'])
    expect((await session.resume({ 'call-1': { approve: true } })).status).toBe('completed')
    expect(ran).toEqual(['b'])
  })

  it('asks to stand outside caches', () => {
    const agent = new Agent({ model: scriptedModel([]), orderCheck: 'off' })
      .use(cache())
      .use(selectTools({ tools: [] }))
    expect(agent.check()).toMatchObject([{ severity: 'error', layers: ['model:selectTools', 'model:cache'] }])
  })

  it.each<[SelectToolsOptions]>([
    [{}],
    [{ tools: ['a'], model: scriptedModel([]) }],
    [{ model: scriptedModel([]), maxTools: 0 }],
    [{ model: scriptedModel([]), maxTools: 1.5 }],
  ])('refuses options that make no sense: %#', (options) => {
    expect(() => selectTools(options)).toThrowError(expect.objectContaining({ code: 'layer.config' }))
  })
})
