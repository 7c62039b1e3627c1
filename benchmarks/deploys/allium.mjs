import { durable } from '@allium/durable'
import { sqlite } from '@allium/store-sqlite'
import { Agent, defineTool } from 'allium'
import { scriptedModel } from 'allium/testing'
import { build, dir, effect, instructions, paying, report, scripted } from './world.mjs'

// VERSIONS=new deploys the new build as version 2, and moves the run to it. VERSIONS=same forgets to change the version.
const { VERSIONS: versions, INTERRUPTED: onInterrupted } = process.env
const starts = process.argv[2] === 'start'
const version = starts || versions === 'same' ? '1' : '2'
const principal = { tenantId: 'acme', userId: 'dana' }

function step({ messages }) {
  const results = messages.filter(({ role }) => role === 'tool').length
  const name = scripted(results)
  return name ? { toolCalls: [{ name, callId: `c${results}`, args: { amount: 40 } }] } : 'Paid.'
}

function tool(name, effectName) {
  return defineTool({
    name,
    description: name,
    jsonSchema: { type: 'object', properties: { amount: { type: 'number' } } },
    execute() {
      effect(effectName)
      return 'ok'
    },
    ...(onInterrupted && { onInterrupted }),
  })
}

const store = sqlite(`${dir}/store.db`)
const agent = new Agent({
  name: 'pay',
  version,
  instructions,
  model: scriptedModel(Array.from({ length: 9 }, () => step)),
  tools: [tool(paying, 'charge'), tool('receipt', 'receipt')],
  store,
})
if (build === 'block') agent.use({ name: 'block', turn: (ctx) => ctx.block('No payments today.') })
const runs = durable(agent, { store, lease: 1000, logger: silent() })

const { run } = await runs.start({ principal, sessionId: 'pay', input: 'Pay 40', idempotencyKey: 'pay' })
const moved = starts || versions === 'same' || (await moveToThisVersion())
report(moved === true ? await ended() : moved)
await runs.drain()
store.close()
process.exit(0)

/** Moves the run once the lease of its lost process has expired, or says why it stays. */
async function moveToThisVersion() {
  for (;;) {
    const { fits, moved, reason } = await runs.migrate(run, { principal, to: version })
    if (!fits) return `stays with version 1, with its steps: ${reason}`
    if (moved) return true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

async function ended() {
  for await (const _ of runs.attach(run, { principal }));
  const { status, text, code, reason } = await runs.get(run, { principal })
  return code ? `${status}, keeps its steps: ${code}: ${reason}` : `${status}: ${text}`
}

function silent() {
  const none = () => {}
  return { debug: none, info: none, warn: none, error: none }
}
