import { Agent, type Approval, delegate, type Middleware, type ToolContext, type ToolExecution } from '@allium/core'
import { digestOf } from '@allium/core/internal'
import { scriptedModel } from '@allium/testing'
import { describe, expect, it } from 'vitest'
import { type ApproveOptions, approve } from '../src/index.ts'
import { calling, scene, told, tool } from './scene.ts'

const refund = (args = { cents: 5 }) => calling(['refund', args])

describe('guard.approve by suspending', () => {
  it('suspends the run, and lets the approved call run when it is resumed', async () => {
    const { agent, ran } = scene([refund(), 'Refunded.'], [approve()], { tools: ['refund'] })
    const session = agent.session()
    const { status, pending } = await session.run('go')
    expect([status, pending[0]?.request, ran]).toEqual([
      'suspended',
      { reason: 'The tool "refund" needs an approval.' },
      [],
    ])
    const { text } = await session.resume({ [pending[0]?.callId as string]: { approve: true } })
    expect([text, ran]).toEqual(['Refunded.', [['refund', { cents: 5 }]]])
  })

  it.each<[Approval, unknown[], unknown]>([
    [{ deny: 'too much' }, [], 'too much'],
    [
      { args: { cents: 1 } },
      [['refund', { cents: 1 }]],
      'The approver changed the arguments of this call. It ran with {"cents":1}\nrefund 1',
    ],
  ])('heeds the decision %j', async (decision, expected, content) => {
    const { agent, ran } = scene([refund(), 'Done.'], [approve()], { tools: ['refund'] })
    const session = agent.session()
    const { pending } = await session.run('go')
    const result = await session.resume({ [pending[0]?.callId as string]: decision })
    expect([ran, told(result)]).toEqual([expected, [content]])
  })

  it('asks for the tools that it names, and when it is told to', async () => {
    const layer = approve({
      tools: ['re*'],
      when: ({ args }) => Number(args.cents) > 100,
      reason: ({ args }) => `${args.cents}?`,
    })
    const steps = [calling(['refund', { cents: 5 }], ['look'], ['refund', { cents: 500 }]), 'Done.']
    const { agent, ran } = scene(steps, [layer], { tools: ['refund', 'look'] })
    const { pending } = await agent.session().run('go')
    expect([ran.length, pending.map(({ request }) => request)]).toEqual([2, [{ reason: '500?' }]])
  })

  it('approves a tool that requires approval by itself, once and not twice', async () => {
    const pay = { ...tool('pay'), requireApproval: true }
    const agent = new Agent({ model: scriptedModel([calling(['pay']), 'Paid.']), tools: [pay] }).use(approve())
    const session = agent.session()
    const { pending } = await session.run('go')
    expect((await session.resume({ [pending[0]?.callId as string]: { approve: true } })).text).toBe('Paid.')
  })

  it('shows the arguments that would run, and asks again where they change', async () => {
    let n = 0
    const restless: Middleware = {
      name: 'restless',
      tool(ctx, next) {
        ctx.modifyArgs({ cents: ++n })
        return next()
      },
    }
    const { agent, ran } = scene([refund(), 'Done.'], [approve(), restless], { tools: ['refund'] })
    const session = agent.session()
    const { pending } = await session.run('go')
    const again = await session.resume({ [pending[0]?.callId as string]: { approve: true } })
    expect([again.status, ran]).toEqual(['suspended', []])
  })
})

it('guard.approve refuses a list of tools that is empty: it would ask for nothing', () => {
  expect(() => approve({ tools: [] })).toThrow(expect.objectContaining({ code: 'layer.config' }))
})

describe('guard.approve with a handler', () => {
  it.each([{ approve: false }, {}, { approved: true }, [], null, 'no', 1, { args: 'x' }, { args: undefined }])(
    'denies where its handler says %j, which approves nothing',
    async (said) => {
      const { agent, ran } = scene([refund(), 'Done.'], [approve({ handler: () => said as never })], {
        tools: ['refund'],
      })
      const { status, toolCalls } = await agent.run('go')
      expect([status, toolCalls[0]?.result.status, ran]).toEqual(['completed', 'denied', []])
    },
  )

  const decided = async (handler: ApproveOptions['handler'], options: ApproveOptions = {}) => {
    const made = scene([refund(), 'Done.'], [approve({ handler: handler as never, ...options })], { tools: ['refund'] })
    return { ...made, result: await made.agent.run('go') }
  }

  it.each([
    [true, 1],
    [false, 0],
    [{ approve: true } as const, 1],
    [{ deny: 'no' }, 0],
  ])('runs the call or not by what it says: %j', async (said, times) => {
    const { ran, result } = await decided(() => said)
    expect([ran.length, result.status]).toEqual([times, 'completed'])
  })

  it('gets the call as a copy, and may edit its arguments', async () => {
    const { ran } = await decided(({ tool, args, reason }) => {
      args.cents = 1_000_000
      return { args: { cents: 2, note: `${tool} ${reason}` } }
    })
    expect(ran).toEqual([['refund', { cents: 2, note: 'refund The tool "refund" needs an approval.' }]])
  })

  it('that throws denies, and the log alone learns why', async () => {
    const { ran, result, log } = await decided(() => Promise.reject(new Error('secret of the server')))
    expect([ran, told(result)]).toEqual([[], ['The tool "refund" could not be approved.']])
    expect([JSON.stringify(result), log.length]).toEqual([expect.not.stringContaining('secret'), 1])
  })
})

describe('guard.approve of a tool that the client runs', () => {
  it('asks a person first; then the call waits for the client, and is not asked about again', async () => {
    const { agent } = scene([calling(['locate']), 'In Oslo.'], [approve()], {})
    const session = agent.session()
    const locate = { name: 'locate', description: 'Where', jsonSchema: { type: 'object' } }
    const { pending } = await session.run('go', { clientTools: [locate] })
    const callId = pending[0]?.callId as string
    expect(pending[0]?.client).toBeUndefined()
    const next = await session.resume({ [callId]: { approve: true } })
    expect([next.status, next.pending[0]?.client]).toEqual(['suspended', true])
    const { text, toolCalls } = await session.resume({ [callId]: { result: 'Oslo' } })
    expect([text, toolCalls[0]?.result.content]).toEqual(['In Oslo.', 'Oslo'])
  })
})

describe('guard.approve that remembers', () => {
  it('keeps who denied beside the result, and nobody where the handler failed', async () => {
    const kept = async (handler: ApproveOptions['handler']) => {
      const { agent } = scene([refund(), 'Done.'], [approve({ handler: handler as never })], { tools: ['refund'] })
      const { toolCalls } = await agent.run('Refund', { session: { principal: { userId: 'ann' } } })
      return toolCalls[0]?.approval
    }
    expect(await kept(() => ({ deny: 'No.', by: { userId: 'bob' } }))).toMatchObject({
      decision: 'denied',
      by: { userId: 'bob' },
    })
    expect(await kept(() => false)).toMatchObject({ decision: 'denied', by: { userId: 'ann' } })
    const failed = () => {
      throw new Error('no phone')
    }
    expect(await kept(failed)).toBeUndefined()
  })

  it('asks once for a tool with the same arguments, by value, and again for others', async () => {
    const steps = [refund(), calling(['refund', { cents: 5 }]), calling(['refund', { cents: 6 }]), 'Done.']
    let asked = 0
    const { agent, ran } = scene(steps, [approve({ remember: true, handler: () => ++asked > 0 })], {
      tools: ['refund'],
    })
    await agent.run('go')
    expect([asked, ran.length]).toEqual([2, 3])
  })

  it('keeps who approved beside the result, and who did first where it is remembered', async () => {
    const steps = [refund(), 'Refunded.', refund(), 'Again.']
    const handler = () => ({ approve: true, by: { tenantId: 'acme', userId: 'bob', password: 'hidden' } }) as const
    const { agent } = scene(steps, [approve({ remember: true, handler })], { tools: ['refund'] })
    const session = agent.session({ principal: { tenantId: 'acme', userId: 'ann' } })
    const by = { tenantId: 'acme', userId: 'bob' }
    const at = expect.any(Number)
    const kept = async () => (await session.run('go')).toolCalls.map(({ approval }) => approval)
    expect(await kept()).toEqual([{ decision: 'approved', by, at }])
    expect(await kept()).toEqual([{ decision: 'approved', by, at, remembered: true }])
  })

  it('remembers no denial, nothing without being told to, and nothing of another session', async () => {
    const asks = async (remember: boolean, yes: boolean) => {
      let asked = 0
      const layer = approve({ remember, handler: () => ++asked > 0 && yes })
      const { agent } = scene([refund(), refund(), 'a', refund(), 'b'], [layer], { tools: ['refund'] })
      await agent.session().run('1')
      await agent.session().run('2')
      return asked
    }
    expect([await asks(true, true), await asks(true, false), await asks(false, true)]).toEqual([2, 3, 3])
  })

  it('is not got round by state that somebody wrote into a snapshot, where approvals are signed', async () => {
    const steps = [refund(), 'Done.', refund(), 'Done again.', refund(), 'Done for another.']
    const asked: string[] = []
    const handler = (_: unknown, { sessionId }: ToolContext) => asked.push(sessionId) > 0
    const layer = approve({ remember: true, handler })
    const { agent } = scene(steps, [layer], { tools: ['refund'], approvals: { secret: 'a secret of some length' } })
    const key = 'guard:approve:remembered'
    const first = agent.session({ id: 'first', principal: { tenantId: 'acme', userId: 'ada' } })
    await first.run('go')
    const snapshot = first.snapshot()
    const unsigned = await digestOf(['layer', 'acme', 'ada', ['guard:approve', 'refund', { cents: 5 }]])
    const forged = agent.session({ id: 'forged', principal: { tenantId: 'acme', userId: 'ada' } })
    forged.restore({ ...snapshot, state: { [key]: [unsigned] } })
    await forged.run('go')
    const others = agent.session({ id: 'others', principal: { tenantId: 'globex', userId: 'ada' } })
    others.restore({ ...snapshot, history: [] })
    await others.run('go')
    expect(asked).toEqual(['first', 'forged', 'others'])
  })

  it('keeps no argument: what is kept are digests', async () => {
    const { agent } = scene(
      [calling(['refund', { iban: 'NO93 8601' }]), 'Done.'],
      [approve({ remember: true, handler: () => true })],
      { tools: ['refund'] },
    )
    const { state } = await agent.run('go')
    expect(JSON.stringify(state)).not.toContain('8601')
  })
})

it('guard.approve asks for the calls of a sub-agent too', async () => {
  const clerk = new Agent({ name: 'clerk', model: scriptedModel([refund(), 'Refunded.']), tools: [tool('refund')] })
  const ask = {
    ...tool('ask'),
    execute: async (_: object, ctx: ToolExecution) => (await delegate(ctx, clerk, 'go'))?.text,
  }
  const agent = new Agent({ model: scriptedModel([calling(['ask']), 'Done.']), tools: [ask as never] }).use(
    approve({ tools: ['refund'] }),
  )
  const session = agent.session()
  const { pending } = await session.run('go')
  expect(pending).toMatchObject([{ name: 'refund', path: ['clerk'] }])
  expect((await session.resume({ [pending[0]?.callId as string]: { approve: true } })).text).toBe('Done.')
})
