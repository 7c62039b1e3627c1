import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf, it } from 'vitest'
import { cache, emulate, http, retry } from '../src/index.ts'

it('asks for the tools that may run again, and for those whose results are kept', () => {
  // @ts-expect-error: it needs tools
  void (() => retry({ attempts: 2 }))
  // @ts-expect-error: it needs tools
  void (() => cache({ ttl: 1 }))
})

it('asks for the hosts of requests, and knows the methods', () => {
  // @ts-expect-error: it needs hosts
  void (() => http({}))
  // @ts-expect-error: methods are in capitals
  void (() => http({ hosts: ['a.test'], methods: ['get'] }))
})

it('types the events of the layers by their names', () => {
  const agent = new Agent({ model: scriptedModel([]) }).use(emulate({ model: scriptedModel([]) }))
  agent.on('tools:retry', ({ tool, delay }) =>
    expectTypeOf([tool, delay] as const).toEqualTypeOf<readonly [string, number]>(),
  )
  agent.on('tools:cache', ({ tool }) => expectTypeOf(tool).toEqualTypeOf<string>())
  agent.on('tools:emulate', ({ model }) => expectTypeOf(model).toEqualTypeOf<string>())
})
