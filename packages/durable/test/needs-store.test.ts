import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { durable } from '../src/index.ts'

it.each([{}, { store: undefined }, { store: {} }])('durable() with %o says that it needs a store', (options) => {
  const agent = new Agent({ version: '1', model: scriptedModel(['Hi.']) })
  expect(() => durable(agent, options as never)).toThrow('durable() needs a store with sessions and runs.')
})
