import { Agent, type AgentOptions, type AnyMiddleware } from '@allium/core'
import { memoryStore, sharedStore } from '@allium/store'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { z } from 'zod'
import { persist } from '../../src/index.ts'
import { type WorkingOptions, working } from '../../src/working/index.ts'

export const ann = { tenantId: 'acme', userId: 'ann' }
export const bob = { tenantId: 'acme', userId: 'bob' }
export const annKey = { tenant: 'acme', owner: 'ann' }

export const person = z.object({
  name: z.string().optional(),
  diet: z.enum(['vegan', 'any']).optional(),
  trips: z.array(z.string()).optional(),
})

/** The model's call of the tool. */
export const update = (set: object, remove: string[] = []): ScriptedStep => ({
  toolCalls: [{ name: 'update_memory', args: { set, remove } }],
})

interface Scene {
  store?: ReturnType<typeof memoryStore>
  layers?: AnyMiddleware[]
  agent?: Partial<AgentOptions>
}

/** An agent with a store and the layer. `shown` has the notes of the model calls. */
export function scene(steps: ScriptedStep[], options: Partial<WorkingOptions> = {}, given: Scene = {}) {
  const { store = memoryStore(), layers = [] } = given
  const model = scriptedModel(steps)
  const shares: AnyMiddleware = {
    name: 'shares',
    provides: [sharedStore],
    agent(ctx, next) {
      ctx.provide(sharedStore, { sessions: store })
      return next()
    },
  }
  const agent = new Agent({ name: 'support', model, instructions: 'Be kind.', ...given.agent }).use([
    shares,
    persist({ store }),
    ...layers,
    working({ schema: person, ...options }),
  ] as AnyMiddleware[])
  const shown = () =>
    model.requests.map(({ messages }) => {
      const note = messages.find(({ content }) => typeof content === 'string' && content.startsWith('(A note'))
      return note === undefined ? undefined : JSON.parse(String(note.content).split('\n')[1] ?? '')
    })
  return { agent, model, store, shown }
}
