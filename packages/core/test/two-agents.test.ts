import { describe, expect, it } from 'vitest'
import { type AgentOptions, delegate, type Snapshot } from '../src/index.ts'
import { build, failure, tool } from './kit.ts'

const secret = 'a secret of some length'
const ann = { tenantId: 'acme', userId: 'ann' }
const approve = (token: string | undefined) => ({ c1: { approve: true as const, ...(token && { token }) } })

/** An agent with the tool "pay", of which a call waits at once. */
function paying(name: string, options: Partial<AgentOptions> = {}) {
  const paid: unknown[] = []
  const tools = [tool('pay', () => paid.push(name), { requireApproval: true })]
  const steps = [{ toolCalls: [{ name: 'pay', callId: 'c1' }] }, 'Paid.', 'Later.']
  const { agent } = build(steps, [], { name, tools, approvals: { secret }, ...options })
  return { session: () => agent.session({ id: 'chat', principal: ann }), paid }
}

/** A snapshot of a session in which a call of the agent "strict" waits, and the call's token. */
async function waiting(): Promise<{ snapshot: Snapshot; token: string }> {
  const session = paying('strict', { approvals: { secret, canApprove: () => true } }).session()
  await session.run('Pay')
  const [call] = await session.pendingFor(ann)
  return { snapshot: session.snapshot(), token: call?.token as string }
}

/** A forged snapshot, whose records name no agent. */
function withoutAgents(snapshot: Snapshot): Snapshot {
  const forged = structuredClone(snapshot)
  for (const call of Object.values(forged.suspension?.calls ?? {})) Reflect.deleteProperty(call, 'agent')
  return forged
}

describe('a call that an agent suspended', () => {
  it('is neither shown to nor decided by another agent with the same tool and secret', async () => {
    const { snapshot, token } = await waiting()
    const { session: open, paid } = paying('lax')
    const lax = open()
    lax.restore(snapshot)
    expect([lax.pending, await lax.pendingFor(ann)]).toEqual([[], []])
    for (const decisions of [approve(token), { c1: { deny: 'no' } }, { c1: { args: {}, token } }]) {
      expect((await failure(lax.resume(decisions))).code).toBe('approval.forbidden')
      expect((await failure(lax.checkDecisions(decisions))).code).toBe('approval.forbidden')
    }
    expect([paid, lax.snapshot()]).toEqual([[], { ...snapshot, runCount: lax.snapshot().runCount }])
  })

  it('is decided by the agent after it was renamed, if that names its former name', async () => {
    const { snapshot, token } = await waiting()
    const renamed = paying('stricter', { formerNames: ['strict'] })
    const session = renamed.session()
    session.restore(snapshot)
    expect(session.pending).toHaveLength(1)
    await session.resume(approve(token))
    expect(renamed.paid).toEqual(['stricter'])
  })

  it('cannot be given to another agent by a change of its record', async () => {
    const { snapshot, token } = await waiting()
    const forged = structuredClone(snapshot)
    Object.assign(forged.suspension?.calls.c1 ?? {}, { agent: 'lax' })
    const lax = paying('lax')
    const session = lax.session()
    session.restore(forged)
    expect((await failure(session.resume(approve(token)))).code).toBe('approval.forged')
    session.restore(withoutAgents(snapshot))
    expect((await failure(session.resume(approve(token)))).code).toMatch(/approval\.(forged|forbidden)/)
    expect(lax.paid).toEqual([])
  })

  it('waits in a sub-agent under the name of that, and is decided through the agent above', async () => {
    const clerk = build([{ toolCalls: [{ name: 'pay', callId: 'i1' }] }, 'Paid.'], [], {
      name: 'clerk',
      tools: [tool('pay', () => 'paid', { requireApproval: true })],
    }).agent
    const ask = tool('ask', async (_, ctx) => (await delegate(ctx, clerk, 'pay'))?.text)
    const { agent } = build([{ toolCalls: [{ name: 'ask', callId: 'c1' }] }, 'Done.'], [], {
      name: 'desk',
      tools: [ask],
    })
    const session = agent.session()
    await session.run('Pay')
    const { calls } = session.snapshot().suspension ?? {}
    expect([calls?.c1?.agent, calls?.c1?.inner?.snapshot.suspension?.calls.i1?.agent]).toEqual(['desk', 'clerk'])
    expect((await session.resume({ 'c1/i1': { approve: true } })).text).toBe('Done.')
  })
})

describe('the names of an agent', () => {
  it('are part of the key of its sessions: a group, else the name', () => {
    const key = (options: Partial<AgentOptions>) =>
      build([], [], options).agent.session({ id: 'a', principal: ann }).key
    expect(key({})).toEqual({ tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'a' })
    expect([key({ name: 'sales' }).agent, key({ name: 'sales', sessionGroup: 'desk' }).agent]).toEqual([
      'sales',
      'desk',
    ])
  })

  it.each([
    [{ name: '' }],
    [{ name: 7 as never }],
    [{ name: 'a\0' }],
    [{ name: 'x'.repeat(257) }],
    [{ formerNames: 'helpdesk' as never }],
    [{ formerNames: [''] }],
    [{ sessionGroup: '' }],
  ])('are refused where nothing could be kept under them: %j', async (options) => {
    expect((await failure(() => build([], [], options))).code).toBe('agent.options')
  })
})
