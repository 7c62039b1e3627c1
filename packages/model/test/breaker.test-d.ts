import { Agent, type AgentRun } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf } from 'vitest'
import { breaker, type ModelBreaker } from '../src/index.ts'

const agent = new Agent({ model: scriptedModel([]) }).use(breaker())

expectTypeOf(agent.run('hello')).toEqualTypeOf<AgentRun<{}>>()
agent.on('model:breaker', (event) => expectTypeOf(event).toEqualTypeOf<ModelBreaker>())

// @ts-expect-error: a share needs the number of calls that it is of
breaker({ threshold: { share: 0.5 } })
// @ts-expect-error: 'model' or 'tenant', or a function
breaker({ per: 'session' })
