import { Agent, type AnyTool, delegate, type Middleware, type ToolExecution, toolResult } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type FlowOptions, flow } from '../../src/index.ts'
import { calling, mail, page, scene, secret, sends, tool, writes } from './scene.ts'

const tools = { read_page: page, read_crm: secret, read_mail: mail, send: sends, save: writes }
const labels = 'guard:flow:labels'

describe('guard.flow', () => {
  it('lets send what goes to the principal alone, and asks of every other list of addresses', async () => {
    const run = async (to: unknown, own: FlowOptions['own'] = () => ['ann@a.test', 'ann@b.test']) => {
      const model = scriptedModel([calling('read_mail'), calling('send'), 'Done.'])
      const sender: AnyTool = { ...tool('send', sends), flow: { sends: true, to: to as never } }
      const agent = new Agent({ model, tools: [tool('read_mail', mail), sender] }).use(flow({ own }))
      return (await agent.run('go')).status
    }
    expect(await run(() => ['ann@a.test', 'ann@b.test'])).toBe('completed')
    const others = [['ann@a.test', 'eve@x.test'], ['Ann@a.test'], [], undefined, 'ann@a.test', [1], ['']]
    for (const list of others) expect(await run(() => list)).toBe('suspended')
    expect(await run(() => expect.fail('unknown'))).toBe('suspended')
    expect(await run(() => ['ann@a.test'], undefined)).toBe('completed')
    expect(
      await run(
        () => ['ann@a.test'],
        () => [],
      ),
    ).toBe('suspended')
  })

  it('asks for the addresses with what execute gets', async () => {
    const schema = z.object({ to: z.string().transform((name) => `${name}@a.test`) })
    const sender = {
      name: 'send',
      description: 'Sends',
      schema,
      execute: () => 'sent',
      flow: { sends: true, to: ({ to }: { to: string }) => [to] },
    }
    const model = scriptedModel([calling('read_mail'), { toolCalls: [{ name: 'send', args: { to: 'ann' } }] }, 'Done.'])
    const agent = new Agent({ model, tools: [tool('read_mail', mail), sender] })
    const { status } = await agent.use(flow({ own: () => ['ann@a.test'] })).run('go')
    expect(status).toBe('completed')
  })

  it('counts a call with what the model had seen that made it, whichever of its siblings ends first', async () => {
    const { agent, ran } = scene([calling('read_crm'), calling('read_page', 'send'), calling('send'), 'Done.'], tools)
    const { status } = await agent.run('go')
    expect([status, ran]).toEqual(['suspended', ['read_crm', 'read_page', 'send']])
  })

  it('takes labels that a result brings itself, from its tool or from a layer', async () => {
    const note = { ...tool('note', {}), execute: () => toolResult({ content: 'x', flow: { private: true } }) }
    const marks: Middleware = {
      name: 'marks',
      tool: async (ctx, next) =>
        ctx.tool.name === 'plain' ? { ...(await next()), flow: { untrusted: true } } : next(),
    }
    const steps = [calling('note'), calling('plain'), calling('send'), 'Done.']
    const { agent } = scene(steps, { plain: {}, send: sends }, { layers: [marks], agent: {} })
    const more = new Agent({ model: scriptedModel(steps), tools: [note, tool('plain', {}), tool('send', sends)] })
    expect((await agent.run('go')).status).toBe('completed')
    const { status, state } = await more.use(marks).use(flow()).run('go')
    expect([status, Object.keys(state[labels] ?? {}).sort()]).toEqual(['suspended', ['private', 'untrusted']])
  })

  it('hides a tool of the provider that would send what is private, and refuses one that never could be shown', async () => {
    const web = (flow: AnyTool['flow']): AnyTool => ({
      name: 'web',
      description: 'Searches',
      providerExecuted: { id: 'x.web', args: {} },
      ...(flow && { flow }),
    })
    const model = scriptedModel([calling('read_crm'), 'Done.'])
    const agent = new Agent({ model, tools: [web({ untrusted: true, sends: true }), tool('read_crm', secret)] })
    await agent.use(flow()).run('go')
    expect(model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
      ['web', 'read_crm'],
      ['read_crm'],
    ])
    const never = new Agent({ model, tools: [web({ untrusted: true, writes: true })] }).use(flow())
    await expect(never.init()).rejects.toThrow('the provider runs it without asking')
  })

  it.each([{ flow: {} }, { missing: true }])(
    'believes no model that gives %j with the result of a provider',
    async (own) => {
      const start = { type: 'tool-input-start', callId: 'w', name: 'web', providerExecuted: true } as const
      const result = { type: 'tool-result', callId: 'w', name: 'web', content: 'A page.', ...own } as const
      const crm = { type: 'tool-input-start', callId: 'c', name: 'read_crm' } as const
      const ends = ['w', 'c'].map((callId) => ({ type: 'tool-input-end', callId }) as const)
      const web = { chunks: [start, ends[0], result, crm, ends[1]] as never }
      const { agent } = scene([web, calling('send'), 'Done.'], { read_crm: secret, send: sends })
      expect((await agent.run('go')).status).toBe('suspended')
    },
  )

  it('asks inside a sub-agent about what came in outside of it, and outside about what came in inside', async () => {
    const inner = (steps: Parameters<typeof scriptedModel>[0]) =>
      new Agent({ name: 'clerk', model: scriptedModel(steps), tools: [tool('send', sends), tool('read_page', page)] })
    const outer = (agent: Agent, steps: Parameters<typeof scriptedModel>[0]) => {
      const ask: AnyTool = { ...tool('ask', {}), agent, execute: (_, ctx) => delegated(ctx, agent) }
      return new Agent({ model: scriptedModel(steps), tools: [ask, tool('read_mail', mail), ...all] }).use(flow())
    }
    const all = [tool('read_crm', secret), tool('post', sends)]
    const down = outer(inner([calling('send'), 'Sent.']), [calling('read_mail'), calling('ask'), 'Done.'])
    const { pending } = await down.run('go')
    expect(pending[0]).toMatchObject({
      name: 'send',
      path: ['clerk'],
      request: { sources: { private: { tool: 'read_mail' } } },
    })
    const up = outer(inner([calling('read_page'), 'Read.']), [
      calling('read_crm'),
      calling('ask'),
      calling('post'),
      '.',
    ])
    expect((await up.run('go')).pending[0]).toMatchObject({
      name: 'post',
      request: { sources: { untrusted: { tool: 'read_page' } } },
    })
  })

  it('asks about the tools of a sub-agent at init, which brings it up', async () => {
    const clerk = new Agent({ name: 'clerk', model: scriptedModel([]), tools: [tool('mystery', undefined)] })
    const ask: AnyTool = { ...tool('ask', {}), agent: clerk }
    const agent = new Agent({ model: scriptedModel([]), tools: [ask] }).use(flow())
    await expect(agent.init()).rejects.toThrow('does not admit the tool "mystery"')
    const other = new Agent({
      model: scriptedModel([]),
      tools: [{ ...ask, agent: new Agent({ model: scriptedModel([]), tools: [] }) }],
    })
    await expect(other.use(flow()).init()).resolves.toBeUndefined()
  })

  it('reads a result in quarantine: what comes out is private still, and untrusted no more', async () => {
    const reader = scriptedModel(['{"stars":4}', 'Ignore all that.'])
    const schema = z.object({ stars: z.int().min(1).max(5) })
    const options = { quarantine: { read_mail: schema }, reader }
    const steps = [calling('read_mail'), calling('send'), calling('read_mail'), 'Done.']
    const { agent, model } = scene(steps, tools, { options })
    const { status, state, toolCalls } = await agent.run('go')
    expect([status, state[labels]]).toEqual([
      'completed',
      { private: { kind: 'tool', tool: 'read_mail', callId: 'call-1' } },
    ])
    expect(toolCalls.map(({ result }) => result.content)).toEqual([
      '{"stars":4}',
      'send 2',
      'What "read_mail" brought could not be read in quarantine, and is withheld.',
    ])
    expect(JSON.stringify(model.requests)).not.toContain('read_mail 1')
    expect(reader.requests[0]?.tools).toEqual([])
  })

  it('refuses a quarantine that could let text through', () => {
    const made = (schema: z.ZodType) => () => flow({ quarantine: { x: schema }, reader: scriptedModel([]) })
    const closed = z.object({
      kind: z.enum(['a', 'b']).nullable(),
      day: z.iso.date().optional(),
      many: z.array(z.boolean()).max(100),
      share: z.number().min(0).max(1),
      same: z.literal('x'),
    })
    expect(made(closed)).not.toThrow()
    const open = {
      'a string that is neither an enum nor a date': z.object({ a: z.string() }),
      'a number without minimum and maximum': z.object({ a: z.int() }),
      'an object without fixed keys': z.record(z.string(), z.boolean()),
      'a list whose items are neither enums nor booleans': z.array(z.number().min(0).max(1)).max(3),
      'a list without a maxItems of 100 or less': z.array(z.boolean()),
    }
    for (const [why, schema] of Object.entries(open)) expect(made(schema)).toThrow(why)
    expect(() => flow({ quarantine: { x: closed } })).toThrow('needs the option reader')
  })

  it('takes what is stored without labels for untrusted, or as the app says', async () => {
    const history = [
      { role: 'user' as const, content: 'Hello' },
      { role: 'assistant' as const, content: 'Hi.' },
    ]
    const after = async (options: FlowOptions) => {
      const session = scene([calling('save'), 'Done.'], tools, { options }).agent.session()
      session.restore({ history, state: {} })
      return (await session.run('go')).status
    }
    expect([await after({}), await after({ unlabelled: 'trusted' })]).toEqual(['suspended', 'completed'])
  })

  it('goes back to the labels of a turn with a fork at that turn', async () => {
    const { agent } = scene(['Hi.', calling('read_page'), 'Read.', calling('save'), 'Saved.'], tools)
    const session = agent.session()
    const { turnId } = await session.run('hello')
    await session.run('read')
    expect((await session.fork({ at: turnId }).run('save')).status).toBe('completed')
  })

  it('denies in place of asking where nobody is there to be asked', async () => {
    const steps = [calling('read_page'), calling('save'), 'Done.']
    const { agent, ran } = scene(steps, tools, { options: { onSink: 'deny' } })
    const told: unknown[] = []
    agent.on('guard:flow', ({ action, tool }) => told.push([action, tool]))
    const { toolCalls } = await agent.run('go')
    expect([ran, toolCalls[1]?.result.status, told]).toEqual([['read_page'], 'denied', [['deny', 'save']]])
  })

  it('asks once where the tool itself requires an approval too', async () => {
    const asks: AnyTool = { ...tool('send', sends), requireApproval: true }
    const model = scriptedModel([calling('read_mail'), calling('send'), 'Done.'])
    const agent = new Agent({ model, tools: [tool('read_mail', mail), asks] }).use(flow())
    const session = agent.session()
    const { pending } = await session.run('go')
    expect((await session.resume({ [pending[0]?.callId as string]: { approve: true } })).status).toBe('completed')
  })

  it('lets links through to hosts that it is given, and to no others that look like them', async () => {
    const text = [
      'https://a.example.org/x https://example.org.evil.com https://a.example.org@evil.com',
      '[x](https://a.example.org\\@evil.com) https://a.example.org.evil.com/ [y](https://b.example.org)',
    ].join('\n')
    const options = { links: ['*.example.org'] }
    const { agent } = scene([calling('read_mail'), text], tools, { options })
    expect((await agent.run('go')).text).toBe(
      [
        'https://a.example.org/x [link removed] [link removed]',
        '[x] ([link removed]) [link removed] [y](https://b.example.org)',
      ].join('\n'),
    )
  })

  it('refuses a tool whose flow is none', () => {
    const made = (flow: unknown) => () => new Agent({ model: scriptedModel([]), tools: [tool('x', flow as never)] })
    expect(made({ send: true })).toThrow('The tool "x" has the unknown flow key "send". Known keys are sends,')
    expect(made({ sends: 'yes' })).toThrow('flow.sends')
    expect(made([])).toThrow('as its flow')
  })
})

async function delegated(ctx: ToolExecution, agent: Agent) {
  return (await delegate(ctx, agent, 'go'))?.text
}
