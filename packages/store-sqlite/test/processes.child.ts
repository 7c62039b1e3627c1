// A process of its own on a file: `node processes.child.ts file mode name`. It tells on its output what happens.
import { Agent, type Model, messageOf } from '@allium/core'
import { budget, rateLimit } from '@allium/guard'
import { persist } from '@allium/memory'
import { sharedStore } from '@allium/store'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { sqlite } from '../src/index.ts'

const [, , path = '', mode = '', name = ''] = process.argv
const store = sqlite(path, { synchronous: 'normal' })
const principal = { tenantId: 'acme', userId: 'ann' }
const tell = (line: string) => process.stdout.write(`${line}\n`)

const agentOf = (model: Model, lease?: number) =>
  new Agent({ model, logger: { warn() {}, error() {} } }).use(persist({ store: store.sessions, lease })).use({
    name: 'store',
    provides: [sharedStore],
    async agent(ctx, next) {
      ctx.provide(sharedStore, store)
      await next()
    },
  })
const answers = (step: ScriptedStep) => scriptedModel(Array.from({ length: 100 }, () => step))
const estimate = () => ({ inputTokens: 10, outputTokens: 5 })
const metered = budget({ limit: 150, unit: 'tokens', per: 'tenant', estimate })

/** Turns at once, each in a session of its own: tells how many were let through. */
async function race(agent: Agent, turns = 50): Promise<void> {
  const runs = Array.from({ length: turns }, (_, i) => agent.session({ id: `${name}-${i}`, principal }).run('hi'))
  const ends = await Promise.all(runs)
  tell(`let through ${ends.filter(({ status }) => status === 'completed').length}`)
}

/** One turn in the session "chat", whose call tells that it has begun, and ends when a line comes in. */
async function one(): Promise<void> {
  const step = async () => {
    tell('begun')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    return 'Late.'
  }
  const run = agentOf(answers(step), 700).use(metered).session({ id: 'chat', principal }).run(`from ${name}`)
  tell(
    await run.then(
      ({ status }) => `ended ${status}`,
      (error) => `failed ${messageOf(error)}`,
    ),
  )
}

if (mode === 'budget') await race(agentOf(answers('Hi.')).use(metered))
if (mode === 'rate') await race(agentOf(answers('Hi.')).use(rateLimit({ limit: 10, window: 'day', per: 'tenant' })))
/** Slots come in blocks from 40 on. The process lives on with those that it has not used. */
if (mode === 'blocks') {
  await race(
    agentOf(answers('Hi.')).use(rateLimit({ limit: 60, window: 'day', per: 'tenant' })),
    Number(name.split('-')[1]),
  )
  await new Promise((resolve) => process.stdin.once('data', resolve))
}
if (mode === 'one') await one()
process.exit(0)
