import type { SessionKey } from '@allium/core'
import type { RunKey } from '@allium/store'
import { isRunOf } from '../host/agent-names.ts'
import type { Access, RunControl, RunReader, StoreReader } from '../host/host.ts'
import { requestError } from '../http/problem.ts'
import { type Caller, resolveCaller } from '../request/caller.ts'
import { requireSession } from '../request/require-session.ts'
import type { Serve } from '../request/router.ts'
import { ownKey } from './own-key.ts'
import { routes } from './routes.ts'

/**
 * Adds the routes that stop the active run of a session and send messages to it. The run's stream reports the outcome of a message by its id.
 *
 * @param sessionPath the path of a session in a protocol
 */
export function controlRoutes(
  serve: Serve,
  host: Access & StoreReader & RunControl,
  sessionPath: '/sessions/:id' | '/chat/:id',
): void {
  serve({ ...routes.stop, path: `${sessionPath}/stop` }, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query } = await read()
    const key = ownKey(caller, params.id, query.owner)
    const run = await runOfCaller(host, caller, key)
    if (run !== undefined && (await host.runs.stop(run, caller))) return c.json({ stopped: true }, 202)
    await requireSession(host, key)
    throw requestError('run.not_running', 'No run is active in this session.')
  })

  serve({ ...routes.steer, path: `${sessionPath}/steer` }, async (c, read) => {
    const caller = await resolveCaller(host, c.req.raw, c.req.param('agent'))
    const { params, query, body } = await read()
    const { message, id = crypto.randomUUID() } = body
    const key = ownKey(caller, params.id, query.owner)
    const run = await runOfCaller(host, caller, key)
    if (run !== undefined && (await host.runs.steer(run, { id, message }))) return c.json({ id }, 202)
    await requireSession(host, key)
    throw requestError('run.not_running', 'No run is active in this session. Send the message as the next input.')
  })
}

/** Stops the session's last run, whichever agent and process executes it. Returns false if no run is active. */
export async function stop(host: StoreReader & RunControl, caller: Caller, key: SessionKey): Promise<boolean> {
  const run = await activeRun(host, key)
  return run !== undefined && host.runs.stop(run, caller)
}

/** Returns the active run. If agents share a history, a run is reachable only through the agent that executes it. */
async function runOfCaller(
  host: StoreReader & RunReader,
  caller: Caller,
  key: SessionKey,
): Promise<RunKey | undefined> {
  const run = await activeRun(host, key)
  return run !== undefined && (await isForCaller(host, caller, run)) ? run : undefined
}

async function isForCaller(
  { sessions, runs }: StoreReader & RunReader,
  caller: Caller,
  { key, turnId }: RunKey,
): Promise<boolean> {
  if (caller.agent.sessionGroup === undefined) return true
  const agent = runs.agentOf(key, turnId)
  if (agent !== undefined) return agent === caller.agent
  return (
    isRunOf(caller.agent, await sessions.find(key, { turnId })) ||
    (await runs.durableStatus(turnId, caller)) !== undefined
  )
}

async function activeRun({ events }: StoreReader, key: SessionKey): Promise<RunKey | undefined> {
  const latest = await events.latest(key)
  return latest === undefined || latest.ended ? undefined : { key, turnId: latest.turnId }
}
