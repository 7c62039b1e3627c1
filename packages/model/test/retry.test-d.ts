import { Agent, type AgentRun } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf } from 'vitest'
import { type ModelRetry, retry } from '../src/index.ts'

const agent = new Agent({ model: scriptedModel([]) }).use(retry())

// It adds no state.
expectTypeOf(agent.run('hello')).toEqualTypeOf<AgentRun<{}>>()

// Its event is typed by name.
agent.on('model:retry', (event) => expectTypeOf(event).toEqualTypeOf<ModelRetry>())

// @ts-expect-error: the mistake is spelled out, not ignored
retry({ retries: 3 })
// @ts-expect-error: 'reset' or 'fail'
retry({ afterOutput: 'ignore' })
