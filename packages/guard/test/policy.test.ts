import type { Middleware } from '@allium/core'
import { describe, expect, it } from 'vitest'
import { growth } from '../../testing/test/growth.ts'
import { type PolicyOptions, policy } from '../src/index.ts'
import { matchesToolName } from '../src/rules/tool-names.ts'
import { calling, scene, told } from './scene.ts'

/** What ran of one call under a policy, and what the model was told. */
async function judge(
  options: PolicyOptions,
  name: string,
  args = {},
  principal: unknown = {},
  layers: Middleware[] = [],
) {
  const tools = ['refund', 'order_delete', 'order_get']
  const { agent, ran, model } = scene([calling([name, args]), 'Done.'], [...layers, policy(options)], { tools })
  const result = await agent.run('go', { session: { principal } })
  return {
    ran: ran.map(([name]) => name),
    told: told(result)[0],
    shown: model.requests[0]?.tools.map(({ name }) => name),
  }
}

describe('guard.policy', () => {
  it('lets allowed tools run alone, and does not show the others to the model', async () => {
    const only = { allow: ['order_get'] }
    expect(await judge(only, 'order_get')).toMatchObject({ ran: ['order_get'], shown: ['order_get'] })
    expect(await judge(only, 'refund')).toEqual({
      ran: [],
      told: 'The tool "refund" may not be used here.',
      shown: ['order_get'],
    })
  })

  it('denies tools by pattern, also where they are allowed', async () => {
    expect(await judge({ allow: ['order_*'], deny: ['*_delete'] }, 'order_delete')).toMatchObject({
      ran: [],
      shown: ['order_get'],
    })
  })

  it.each([
    [{ roles: ['manager'] }, ['refund']],
    [{ role: 'manager' }, ['refund']],
    [{ roles: ['clerk'] }, []],
    [{}, []],
    [undefined, []],
  ])('asks for a role of the principal: %j', async (principal, ran) => {
    expect((await judge({ rules: [{ tool: 'refund', roles: ['manager'] }] }, 'refund', {}, principal)).ran).toEqual(ran)
  })

  it.each([
    ['a pattern', { to: /^[a-z]+@acme\.com$/ }, { to: 'dana@acme.com' }, { to: 'eve@evil.com' }],
    ['a list of values', { to: ['a', 'b'] }, { to: 'a' }, { to: 'c' }],
    ['a function', { to: (value: unknown) => Number(value) <= 100 }, { to: 99 }, { to: 101 }],
    ['a promise', { to: async (value: unknown) => value === 1 }, { to: 1 }, { to: 2 }],
    ['an argument within one', { 'customer.id': ['x'] }, { customer: { id: 'x' } }, { customer: { id: 'y' } }],
    ['what is missing', { to: () => true }, { to: null }, {}],
    ['what is no text', { to: /./ }, { to: 'x' }, { to: ['x'] }],
    ['a test that throws', { to: (value: unknown) => (value as { ok: () => boolean }).ok() }, { to: 'n/a' }, { to: 1 }],
    [
      'truth, not what counts as true',
      { to: ((value: unknown) => value) as () => boolean },
      { to: true },
      { to: 'yes' },
    ],
  ])('tests arguments: %s', async (what, args, good, bad) => {
    const options = { rules: [{ tool: 'refund', args }] } as PolicyOptions
    expect((await judge(options, 'refund', good)).ran).toEqual(what === 'a test that throws' ? [] : ['refund'])
    const { ran, told } = await judge(options, 'refund', bad)
    expect([ran, told]).toEqual([[], `The argument "${Object.keys(args)[0]}" of "refund" is not allowed.`])
  })

  it('keeps every rule that names the tool, and tells its own reason', async () => {
    const rules = [
      { tool: 'refund', roles: ['manager'] },
      { tool: '*', args: { amount: (n: unknown) => Number(n) < 10 }, reason: 'Small amounts only.' },
    ]
    expect(await judge({ rules }, 'refund', { amount: 50 }, { roles: ['manager'] })).toMatchObject({
      ran: [],
      told: 'Small amounts only.',
    })
  })

  it('sees the arguments that would run, and cannot be got round by a layer that is registered after it', async () => {
    const raise: Middleware = {
      name: 'raise',
      tool(ctx, next) {
        ctx.modifyArgs({ amount: 1000 })
        return next()
      },
    }
    const options = { rules: [{ tool: 'refund', args: { amount: (n: unknown) => Number(n) <= 100 } }] }
    const { agent, ran } = scene([calling(['refund', { amount: 5 }]), 'Done.'], [policy(options), raise], {
      tools: ['refund'],
    })
    await agent.run('go')
    expect(ran).toEqual([])
  })

  it('stays denied, whatever outer layers do', async () => {
    const undo: Middleware = { name: 'undo', tool: async (ctx, next) => (await next()) && ctx.skipCall('did it') }
    expect(await judge({ deny: ['refund'] }, 'refund', {}, {}, [undo])).toMatchObject({
      told: 'The tool "refund" may not be used here.',
    })
  })

  it('refuses to be a policy that allows everything', () => {
    expect(() => policy({})).toThrow(expect.objectContaining({ code: 'layer.config' }))
  })
})

describe('names of tools', () => {
  it.each([
    ['a', 'a', true],
    ['a', 'ab', false],
    ['*', '', true],
    ['a*', 'a', true],
    ['*a', 'ba', true],
    ['a*a', 'a', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['a.c', 'abc', false],
    ['*x*x*', 'x', false],
  ])('%s and %s: %s', (pattern, name, fits) => {
    expect(matchesToolName([pattern], name)).toBe(fits)
  })

  it('match a name in time that grows with its length', async () => {
    const match = (length: number) => matchesToolName(['*a*a*a*a*a*b'], 'a'.repeat(length))
    expect(match(10)).toBe(false)
    expect(await growth(match, 250_000, 1_000_000, 10)).toBeLessThan(10)
  })
})
