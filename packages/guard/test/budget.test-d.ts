import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf } from 'vitest'
import { budget } from '../src/index.ts'

const model = scriptedModel([])

// The state key follows the name.
const one = await new Agent({ model }).use(budget({ limit: 1 })).run('hello')
expectTypeOf(one.state['guard:budget:spent']).toEqualTypeOf<number>()
// @ts-expect-error: nobody declares it
one.state['guard:budget:left']

const two = await new Agent({ model })
  .use(budget({ limit: 1, as: 'tenant' }))
  .use(budget({ limit: 1, as: 'session', per: 'session' }))
  .run('hello')
expectTypeOf(two.state['tenant:spent']).toEqualTypeOf<number>()
expectTypeOf(two.state['session:spent']).toEqualTypeOf<number>()

// @ts-expect-error: a budget has a limit
budget({})
// @ts-expect-error: spelled wrong
budget({ limit: 1, per: 'organisation' })
