import { Agent, type Middleware } from '@allium/core'
import { setOrderRules } from '@allium/core/internal'
import { orderRules } from '@allium/shared/order'
import { scriptedModel } from '@allium/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { record } from '../src/index.ts'
import { memory } from './kit.ts'

beforeAll(() => setOrderRules(orderRules))
afterAll(() => setOrderRules(undefined))

const redacts: Middleware = { name: 'redacts', order: { is: ['redacts'] }, model: (_, next) => next() }
const stores: Middleware = { name: 'stores', order: { is: ['sessionStorage'] }, session: (_, next) => next() }

const agent = (...layers: readonly Middleware[]) => new Agent({ model: scriptedModel(['ok']) }).use([...layers])
const recorder = (sealed: boolean) => record({ store: memory(sealed).store })

it('check() refuses a recorder of raw text next to a layer that redacts, in any order, unless the store is sealed', () => {
  const found = (sealed: boolean) => [
    agent(recorder(sealed) as never, redacts).check(),
    agent(redacts, recorder(sealed) as never).check(),
  ]
  const message = '"replay:record" is outside "redacts". Pass it a store with `encrypt`, or raw text is stored.'
  expect(found(false).map((findings) => findings.map((finding) => finding.message))).toEqual([[message], [message]])
  expect(found(true)).toEqual([[], []])
})

it('check() asks for the recorder inside the layer that stores the session', () => {
  expect(agent(recorder(true) as never, stores).check()).toMatchObject([{ layers: ['stores', 'replay:record'] }])
  expect(agent(stores, recorder(true) as never).check()).toEqual([])
})

it('a recorder without a store fails the run, and names what to pass', async () => {
  await expect(agent(record() as never).run('hi')).rejects.toMatchObject({
    code: 'layer.config',
    message: expect.stringContaining('has no store'),
  })
})
