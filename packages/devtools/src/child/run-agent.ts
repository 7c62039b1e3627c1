import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { server } from '@allium/server'
import { feedback } from '@allium/server/feedback'
import { inspector } from '@allium/server/inspect'
import { serve } from '@allium/server/node'
import { type ChildOptions, keyHeader, maxBodyBytes } from '../messages.ts'
import { feedbackRoute } from './feedback-route.ts'
import { loadAgent } from './load-agent.ts'
import { openSessions } from './open-sessions.ts'
import { recallRoute } from './recall-route.ts'
import { recordTurns } from './record-turns.ts'
import { developer, principalOf, withRequestContext } from './request-headers.ts'

/** An agent that is served in this process. */
export interface RunningAgent {
  readonly name: string
  readonly port: number
  /** The principal of requests that name none. */
  readonly principal: unknown
  /** Whether the agent has a store of its own, whose sessions the page can read, and whether it can copy them. */
  readonly readOnly: { readonly copies: boolean } | undefined
  /** Aborts the active runs, which are stored as interrupted, and closes the server and the store. */
  close(): Promise<void>
}

/** Imports the agent's module and serves it on a free port of this machine. */
export async function runAgent(options: ChildOptions): Promise<RunningAgent> {
  const { file, exportName, cwd, database, key } = options
  const env = join(cwd, '.env')
  if (existsSync(env)) process.loadEnvFile(env)
  const sessions = openSessions(database)
  const module = await loadAgent(file, exportName)
  const { agent, principal = developer } = module
  const withContext = withRequestContext(agent)
  const { readOnly, ...stores } = sessions.storesOf(agent, module)
  const own = sessions.parts(module)
  const app = server(agent, {
    principal: (request) => principalOf(request) ?? principal,
    base: '/api',
    maxBodyBytes,
    inspect: inspector({ access: () => 'all', state: 'all', readOnly }),
    ...stores,
    feedback: feedback({ store: own.feedback }),
  })
  recordTurns(agent, own.recordings)
  await agent.init()
  const [name = agent.name] = agent.sessionNames
  const answer = async (request: Request) =>
    (await feedbackRoute(request, { store: own.feedback, agent: name })) ??
    (await recallRoute(request, { passages: own.passages, agent: name, layers: agent.inspect().layers })) ??
    app.fetch(request)
  const isFromInspector = (request: Request) => request.headers.get(keyHeader) === key
  const fetch: typeof app.fetch = async (request) =>
    isFromInspector(request) ? withContext(request, () => answer(request)) : new Response(null, { status: 403 })
  const served = await serve({ ...app, fetch }, { port: 0, signals: false, drainTimeout: 1 })
  return {
    name: agent.name,
    principal,
    readOnly: readOnly && { copies: readOnly.copies !== false },
    port: Number(new URL(served.url).port),
    async close() {
      await served.close()
      await agent.dispose({ timeout: 1 })
      sessions.close()
    },
  }
}
