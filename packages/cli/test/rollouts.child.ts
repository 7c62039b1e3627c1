// A process of its own on a file: `node rollouts.child.ts file from to`. It serves the users of two tenants, and prints what it saw.
import { rollout } from '@allium/combinators/rollout'
import { sqlite } from '@allium/store-sqlite'
import { Agent, type Middleware } from 'allium'
import { scriptedModel } from 'allium/testing'

const [, , path = '', from = '0', to = '0'] = process.argv
const store = sqlite(path, { synchronous: 'normal' })
const rude: Middleware = {
  name: 'rude',
  turn(ctx) {
    ctx.output = 'Go away.'
  },
}
const score = ({ text }: { text: string }) => text === 'Hello.'
const tone = rollout(rude, { percent: 50, turns: 1, refresh: 0, score })
const model = scriptedModel(Array.from({ length: 1000 }, () => 'Hello.'))
const agent = new Agent({ model, store, logger: { warn: console.error, error: console.error } }).use(tone)
const seen = { events: 0, rude: 0, rudeAfterStop: 0 }
agent.on('rollout:decided', () => seen.events++)

for (let i = Number(from); i < Number(to); i++) {
  const isStopped = (await store.rollouts.look('rude'))?.stopped !== undefined
  const principal = { userId: `user ${i}`, tenantId: i % 2 === 0 ? 'acme' : 'globex' }
  const { text } = await agent.run('Hi', { session: { principal } })
  await tone.settled()
  if (text !== 'Hello.') seen.rude++
  if (text !== 'Hello.' && isStopped) seen.rudeAfterStop++
}
process.stdout.write(JSON.stringify(seen))
store.close()
