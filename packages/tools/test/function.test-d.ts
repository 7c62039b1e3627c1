import { Agent, type AgentRun, type ToolExecution } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expectTypeOf } from 'vitest'
import { z } from 'zod'
import * as tools from '../src/index.ts'

// The arguments come from the schema, after its transforms.
const layer = tools.function({
  name: 'add',
  description: 'Adds',
  schema: z.object({ a: z.number(), b: z.string().transform(Number), c: z.number().optional() }),
  execute(args, ctx) {
    expectTypeOf(args).toEqualTypeOf<{ a: number; b: number; c?: number | undefined }>()
    expectTypeOf(ctx).toEqualTypeOf<ToolExecution>()
    return args.a
  },
  requireApproval: ({ a }) => a > 10,
})

// It adds no state.
expectTypeOf(new Agent({ model: scriptedModel([]) }).use(layer).run('hello')).toEqualTypeOf<AgentRun<{}>>()

// A raw JSON Schema types nothing.
tools.function({
  name: 'echo',
  description: 'Echoes',
  jsonSchema: { type: 'object' },
  execute: (args) => expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>(),
})

// @ts-expect-error: no description
tools.function({ name: 'add', jsonSchema: {}, execute: () => 1 })
tools.function({
  name: 'add',
  description: 'Adds',
  schema: z.object({ a: z.number() }),
  // @ts-expect-error: the schema has no b
  execute: ({ b }) => b,
})
