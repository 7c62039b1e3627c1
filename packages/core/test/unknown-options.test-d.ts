// Compiled, never run: a key that no object of options has is a compile error where it is written.
import { z } from 'zod'
import { memoryStore } from '../../store/src/index.ts'
import { scriptedModel } from '../../testing/src/index.ts'
import { Agent, defineMiddleware, defineTool, toolResult } from '../src/index.ts'
import type { KeysOf } from '../src/internal.ts'

const model = scriptedModel([])
const schema = z.object({ cents: z.number() })

// @ts-expect-error an option of no agent
new Agent({ model, system: 'Be brief.' })
// @ts-expect-error
new Agent({ model, approvals: { secrt: 's' } })
// @ts-expect-error
new Agent({ model, settings: { maxTokens: 5 } })
// @ts-expect-error
new Agent({ model, tools: [{ name: 'pay', description: 'Pays.', schema, execute: () => 1, requiresApproval: true }] })
// @ts-expect-error
defineTool({ name: 'pay', description: 'Pays.', schema, execute: () => 1, requiresApproval: true })
// @ts-expect-error
defineTool({ name: 'pay', description: 'Pays.', inputSchema: schema, execute: () => 1 })
// @ts-expect-error
defineMiddleware({ name: 'a', turns: () => {} })

const agent = new Agent({ model })
// @ts-expect-error
agent.session({ threadId: 'a' })
// @ts-expect-error
agent.run('hi', { temperature: 0 })
// @ts-expect-error
agent.run('hi', { settings: { topp: 1 } })
// @ts-expect-error
agent.run('hi', { clientTools: [{ name: 'a', description: '', jsonSchema: {}, execute: () => 1 }] })
// @ts-expect-error
agent.session().resume({}, { decidr: {} })
// @ts-expect-error
agent.session().resume({ a: { approved: true } })
// @ts-expect-error
agent.session().fork({ to: 't' })
// @ts-expect-error
agent.dispose({ timeoutMs: 5 })
// @ts-expect-error
memoryStore({ recordRetentio: 5 })
// @ts-expect-error
toolResult({ content: '', error: true })
// @ts-expect-error
agent.use((_, next) => next({ sgnal: AbortSignal.abort() }))
// @ts-expect-error
agent.use((ctx) => ctx.block('no', { replay: 'x' }))

// A list of keys names each key of its type, and no other one.
interface Options {
  a?: number
  b?: number
}
void ({ a: true, b: true } satisfies KeysOf<Options>)
// @ts-expect-error one is missing
void ({ a: true } satisfies KeysOf<Options>)
// @ts-expect-error one is too many
void ({ a: true, b: true, c: true } satisfies KeysOf<Options>)
