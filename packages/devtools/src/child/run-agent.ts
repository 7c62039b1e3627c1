import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { server } from '@allium/server'
import { inspector } from '@allium/server/inspect'
import { serve } from '@allium/server/node'
import { type ChildOptions, keyHeader, maxBody } from '../messages.ts'
import { loadAgent } from './load-agent.ts'
import { openSessions } from './open-sessions.ts'
import { developer, principalOf, withRequestContext } from './request-headers.ts'

/** An agent that is served in this process. */
export interface RunningAgent {
  readonly name: string
  readonly port: number
  /** The principal of requests that name none. */
  readonly principal: unknown
  /** Aborts the active runs, which are stored as interrupted, and closes the server and the store. */
  close(): Promise<void>
}

/** Imports the agent's module and serves it on a free port of this machine. */
export async function runAgent(options: ChildOptions): Promise<RunningAgent> {
  const { file, exportName, cwd, database, key } = options
  const env = join(cwd, '.env')
  if (existsSync(env)) process.loadEnvFile(env)
  const sessions = openSessions(database)
  const { agent, store, encrypt, principal = developer } = await loadAgent(file, exportName)
  const withContext = withRequestContext(agent)
  const stores = sessions.storesOf(agent, { store, encrypt })
  const app = server(agent, {
    principal: (request) => principalOf(request) ?? principal,
    base: '/api',
    maxBody,
    inspect: inspector({ access: () => 'all', state: 'all' }),
    ...stores,
  })
  await agent.init()
  const isFromInspector = (request: Request) => request.headers.get(keyHeader) === key
  const fetch: typeof app.fetch = async (request) =>
    isFromInspector(request) ? withContext(request, () => app.fetch(request)) : new Response(null, { status: 403 })
  const served = await serve({ ...app, fetch }, { port: 0, signals: false, drainTimeout: 1 })
  return {
    name: agent.name,
    principal,
    port: Number(new URL(served.url).port),
    async close() {
      await served.close()
      await agent.dispose({ timeout: 1 })
      sessions.close()
    },
  }
}
