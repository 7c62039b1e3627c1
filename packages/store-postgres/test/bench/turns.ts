import { Agent } from '@allium/core'
import { budget } from '@allium/guard'
import { persist } from '@allium/memory'
import type { Ledger, SessionStore } from '@allium/store'
import { scriptedModel } from '@allium/testing'

export interface Kept {
  readonly sessions: SessionStore
  readonly ledger: Ledger
}

const turns = 400
const atOnce = 50

/** Turns of one model call with a budget of their tenant, fifty at once, each in a session of its own. */
export async function turnsPerSecond({ sessions, ledger }: Kept, tenants: number, round: number): Promise<number> {
  const model = scriptedModel(Array.from({ length: turns }, () => 'Your order left us on Monday.'))
  const agent = new Agent({ model, logger: { warn() {}, error: console.error } })
    .use(persist({ store: sessions }))
    .use(budget({ limit: 1e12, unit: 'tokens', per: 'tenant', ledger }))
  await agent.init()
  let next = 0
  const lane = async () => {
    while (next < turns) {
      const i = next++
      const principal = { tenantId: `tenant-${i % tenants}`, userId: 'ann' }
      const session = agent.session({ id: `${round}-${tenants}-${i}`, principal })
      const { status } = await session.run('Where is my order?')
      if (status !== 'completed') throw new Error(`A turn was ${status}.`)
      await session.close()
    }
  }
  const begun = performance.now()
  await Promise.all(Array.from({ length: atOnce }, lane))
  return (turns / (performance.now() - begun)) * 1000
}
