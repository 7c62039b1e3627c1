import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from '../sides/mock.mjs'
import { timed } from '../timed.mjs'

const turns = 5000
/** Messages per page. */
const limit = 50
/** Pages per sample. */
const count = 50

/** The last page of a session of 5,000 turns and its first one, as the server's route lists them. */
export const earlyPage = {
  async allium() {
    const { Agent } = await import('allium')
    const { server } = await import('@allium/server')
    const { sqlite } = await import('@allium/store-sqlite')
    const folder = mkdtempSync(join(tmpdir(), 'early-page-'))
    process.on('exit', () => rmSync(folder, { recursive: true }))
    const store = sqlite(join(folder, 'db'), { synchronous: 'normal' })
    const agent = new Agent({ model: mock(), store })
    const app = server(agent, { principal: () => ({ tenantId: 'acme', userId: 'ann' }) })
    const principal = { tenantId: 'acme', userId: 'ann' }
    const session = agent.session({ id: 'long', principal })
    for (let i = 0; i < turns; i++) await session.run('Hi')
    const page = async (search) => {
      const response = await app.fetch(new Request(`http://127.0.0.1/sessions/long/messages?limit=${limit}${search}`))
      const { messages } = await response.json()
      if (messages.length !== limit) throw new Error(`A page has ${messages.length} messages.`)
    }
    return {
      sample: async () => ({
        first: await timed(count, () => page('')),
        last: await timed(count, () => page(`&before=${limit}`)),
      }),
      check: () => ({ turns }),
    }
  },
}
