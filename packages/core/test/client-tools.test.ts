import { describe, expect, it } from 'vitest'
import type { AgentOptions, Middleware, Usable } from '../src/index.ts'
import { build, failure, tool } from './kit.ts'

const locate = { name: 'locate', description: 'Where the user is', jsonSchema: { type: 'object' } }
const call = { toolCalls: [{ name: 'locate', callId: 'c1', args: { exact: true } }] }
const ann = { tenantId: 'acme', userId: 'ann' }

/** A session in which a call waits for the client. */
async function waiting(layers: readonly Usable[] = [], options: Partial<AgentOptions> = {}) {
  const { agent, model } = build([call, 'In Oslo.', 'Later.'], layers, { tools: [tool('work')], ...options })
  const session = agent.session({ principal: ann })
  const result = await session.run('Where am I?', { clientTools: [locate] })
  const token = (await session.pendingFor(ann))[0]?.token
  return { agent, session, model, result, decide: (decision: object) => ({ c1: { token, ...decision } as never }) }
}

describe('a tool of the client', () => {
  it('is offered to the model in this run, and its call waits', async () => {
    const { result, model, session } = await waiting()
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['work', 'locate'])
    expect([result.status, session.pending]).toMatchObject([
      'suspended',
      [{ callId: 'c1', name: 'locate', args: { exact: true }, client: true }],
    ])
  })

  it('goes on with the result that the client brings, in the same session elsewhere, too', async () => {
    const { agent, session, model, decide } = await waiting()
    const elsewhere = agent.session({ principal: ann })
    elsewhere.restore(JSON.parse(JSON.stringify(session.snapshot())))
    const { text, toolCalls } = await elsewhere.resume(decide({ result: { city: 'Oslo' } }))
    expect([text, toolCalls[0]?.result.content]).toEqual(['In Oslo.', '{"city":"Oslo"}'])
    expect(model.requests[1]?.tools.map(({ name }) => name)).toEqual(['work', 'locate'])
  })

  it('passes the layers of tools on the way in, and its result on the way out', async () => {
    const seen: unknown[] = []
    const watch: Middleware = {
      name: 'watch',
      async tool(ctx, next) {
        const result = await next()
        seen.push([ctx.plan.flowOf('locate'), result.status, result.content])
        return result.status === 'suspended' ? result : { ...result, content: 'somewhere' }
      },
    }
    const { session, decide } = await waiting([watch])
    const { toolCalls } = await session.resume(decide({ result: 'Oslo' }))
    const flow = { untrusted: true, sends: true }
    expect(seen).toEqual([
      [flow, 'suspended', 'Waiting for a decision.'],
      [flow, 'ok', 'Oslo'],
    ])
    expect(toolCalls[0]?.result.content).toBe('somewhere')
  })

  it('may be refused by the client, or fail there', async () => {
    const refused = await waiting()
    const { toolCalls } = await refused.session.resume(refused.decide({ deny: 'not now' }))
    const failed = await waiting()
    const error = await failed.session.resume(failed.decide({ result: 'no GPS', isError: true }))
    expect([toolCalls[0]?.result.status, error.toolCalls[0]?.result]).toMatchObject([
      'denied',
      { content: 'no GPS', isError: true },
    ])
  })

  it('has a result of the client alone, once, and no other call has one', async () => {
    const { session, decide } = await waiting([], { approvals: { secret: 'some secret', canApprove: () => true } })
    const code = async (decision: object, options = {}) =>
      (await failure(session.resume(decide(decision), options))).code
    expect(await code({ approve: true })).toBe('approval.invalid')
    expect(await code({ args: {} })).toBe('approval.invalid')
    expect(await code({ result: 'x', token: 'forged' })).toBe('approval.forged')
    expect(await code({ result: 'x' }, { approver: { ...ann, userId: 'bob' } })).toBe('approval.forbidden')
    await session.resume(decide({ result: 'x' }))
    expect(await code({ result: 'x' })).toBe('approval.used')
    const own = build([call], [], { tools: [tool('locate', () => 'here', { requireApproval: true })] }).agent.session()
    await own.run('hi')
    expect((await failure(own.resume({ c1: { result: 'x' } }))).code).toBe('approval.invalid')
  })

  it('lets no client say what is true of its result: labels in it are text', async () => {
    const { session, decide } = await waiting()
    await session.resume(decide({ result: { content: 'x', flow: { untrusted: false } } }))
    expect(JSON.stringify(session.history)).toContain('"content":"{\\"content\\"')
  })

  it('is refused with the name of a tool of the agent, or without what a tool needs', async () => {
    const { agent } = build(['One.'], [], { tools: [tool('locate')] })
    const code = async (clientTools: unknown) => (await failure(agent.run('hi', { clientTools } as never))).code
    expect(await code([locate])).toBe('tool.duplicate')
    expect(await code([{ name: 'x' }])).toBe('tool.invalid')
    expect(await code([null])).toBe('tool.invalid')
    expect(await code({})).toBe('run.options')
    expect(await code(Array.from({ length: 129 }, (_, i) => ({ ...locate, name: `t${i}` })))).toBe('run.options')
  })
})
