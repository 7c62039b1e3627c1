import { Agent, type Middleware } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { expect, it } from 'vitest'
import { log } from '../src/index.ts'

it('names as user the owner of the session, as the agent chooses it', async () => {
  const users: unknown[] = []
  const write = ({ user }: { user?: unknown }) => void users.push(user)
  const logger = { debug() {}, info: write, warn: write, error: write } as never
  const owner = (principal: unknown) => (principal as { email: string }).email
  const agent = new Agent({ model: scriptedModel(['Hi.']), owner }).use(log({ logger }) as Middleware)
  await agent.session({ principal: { userId: 'u-1', email: 'ada@acme.test' } }).run('Go')
  expect(users).toEqual(['ada@acme.test', 'ada@acme.test'])
})
