import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Agent, defineTool } from '@allium/core'
import { record } from '@allium/core/context'
import { persist } from '@allium/memory'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { aes } from '../../store-postgres/test/aes.ts'
import { type SqliteOptions, sqlite } from '../src/index.ts'
import { fileIn } from './files.ts'

const canary = 'canary-4711'
const key = { tenant: 'acme', owner: 'ann', agent: 'agent', sessionId: 'chat' }

/** Keeps the canary in sessions, records, events, values and vault; which files beside it hold it while it is open, and after that. */
async function filesWithCanary(options: SqliteOptions): Promise<string[]> {
  const path = fileIn()
  const store = sqlite(path, options)
  const note = defineTool({ name: 'note', jsonSchema: { type: 'object' }, description: 'Notes', execute: () => canary })
  const model = scriptedModel([{ toolCalls: [{ name: 'note', args: { canary } }] }, `It is ${canary}.`])
  const agent = new Agent({ model, tools: [note] }).use(persist({ store: store.sessions })).use({
    name: 'notes',
    async turn(ctx, next) {
      record(ctx, 'noted', { canary })
      await next()
    },
  })
  await agent.session({ id: 'chat', principal: { tenantId: 'acme', userId: 'ann' } }).run(`Note ${canary}`)
  await store.events.append({ key, turnId: 't' }, 1, [canary], { end: true })
  await store.keyValue.set('k', canary)
  await store.vault.save('guard:pii:["acme","ann","agent","chat"]', { '[NAME_1]': canary })
  const found = holding(path)
  store.close()
  return [...found, ...holding(path)]
}

function holding(path: string): string[] {
  const folder = dirname(path)
  return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes(canary))
}

it('leaves nothing that was said in the file and its log where it is sealed, and all of it where it is not', async () => {
  expect(await filesWithCanary({ encrypt: aes() })).toEqual([])
  expect(await filesWithCanary({})).toContain('store.db')
})
