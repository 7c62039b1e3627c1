import { Agent, type AgentRun } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf } from 'vitest'
import { type SelectToolsState, selectTools, type ToolsSelected } from '../src/index.ts'

const model = scriptedModel([])
const agent = new Agent({ model }).use(selectTools({ model, maxTools: 3 }))

// Its state is typed, under its own name too.
expectTypeOf(agent.run('hello')).toEqualTypeOf<AgentRun<SelectToolsState<'model:selectTools'>>>()
const { state } = await new Agent({ model }).use(selectTools({ tools: ['a'], as: 'few' })).run('hello')
expectTypeOf(state['few:shown']).toEqualTypeOf<string[] | null>()
expectTypeOf(state['few:tokens']).toEqualTypeOf<number>()

// Its event is typed by name.
agent.on('model:selectTools', (event) => expectTypeOf(event).toEqualTypeOf<ToolsSelected>())

// The model by a name that the agent resolves.
selectTools({ model: 'openai/gpt-5-mini' })
// @ts-expect-error: names, not tools
selectTools({ tools: [{ name: 'a' }] })
