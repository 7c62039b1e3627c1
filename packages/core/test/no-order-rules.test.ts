import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { orderRules } from '../../shared/src/order.ts'
import { capability, type Middleware } from '../src/index.ts'
import { setOrderRules } from '../src/internal.ts'
import { build, failure } from './kit.ts'

const layer = (name: string, more: Partial<Middleware>): Middleware => ({ name, model: (_, next) => next(), ...more })

describe('core without the rules that allium brings', () => {
  beforeEach(() => setOrderRules(undefined))
  afterEach(() => setOrderRules(orderRules))

  it('still refuses a layer whose capability no outer layer provides', async () => {
    const db = capability<string>('db')
    const { agent } = build([], [layer('reader', { requires: [db] }), layer('base', { provides: [db] })])
    const findings = [{ severity: 'error', layers: ['base', 'reader'] }]
    expect(agent.check()).toMatchObject(findings)
    expect(await failure(agent.init())).toMatchObject({ code: 'layer.order', details: { findings } })
  })

  it('warns that it does not check the order that a layer declares', async () => {
    const { agent, log } = build([], [layer('meter', { order: { is: ['meters'] } }), layer('plain', {})])
    await agent.init()
    expect(log).toMatchObject([{ message: expect.stringContaining('not checked'), details: { layers: ['meter'] } }])
  })

  it('warns of nothing if the check is off, or if no layer declares an order', async () => {
    const off = build([], [layer('meter', { order: { is: ['meters'] } })], { orderCheck: 'off' })
    const plain = build([], [layer('plain', {})])
    await Promise.all([off.agent.init(), plain.agent.init()])
    expect([...off.log, ...plain.log]).toEqual([])
  })
})
