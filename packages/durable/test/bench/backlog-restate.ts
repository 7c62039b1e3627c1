import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from '@allium/core'
import { scriptedModel } from '@allium/testing'
import { durableRestate } from '../../../durable-restate/src/index.ts'
import { ownServer } from '../../../durable-restate/test/server.ts'

/** How many runs Restate gets at once while the backlog is stored. */
const lanes = 50
/** Milliseconds until the runs are due. All of them must be stored by then. */
const lead = 40_000

/**
 * Returns how many milliseconds Restate takes for a backlog, with one process of the agent. Restate has no queues, so the whole server
 * executes `places` invocations at once, in its one partition. It starts a run as soon as it has it, so the runs are delayed to one time.
 */
export async function restateBacklog(count: number, { duration, places }: { duration: number; places: number }) {
  const server = await ownServer({
    RESTATE_DEFAULT_NUM_PARTITIONS: '1',
    RESTATE_WORKER__INVOKER__CONCURRENT_INVOCATIONS_LIMIT: String(places),
  })
  const page = new URL('backlog-restate-worker.ts', import.meta.url).pathname
  const worker = fork(page, [JSON.stringify({ ingress: server.ingress, duration })], { execArgv: process.execArgv })
  const [port] = (await once(worker, 'message')) as [number]
  try {
    await server.register(port)
    const { start } = durableRestate(new Agent({ model: scriptedModel([]) }), {
      ingress: server.ingress,
      name: 'backlog',
    })
    const runAt = Date.now() + lead
    for (let i = 0; i < count; i += lanes)
      await Promise.all(Array.from({ length: lanes }, (_, j) => start({ sessionId: `s${i + j}`, input: 'Go', runAt })))
    const rest = runAt - Date.now()
    if (rest < 0)
      throw new Error(
        `Restate took ${lead - rest} ms to store the backlog, so some runs began before others were stored.`,
      )
    await sleep(rest)
    const began = performance.now()
    while ((await ended()) < count) await sleep(100)
    return performance.now() - began
  } finally {
    worker.kill()
    await server.stop()
  }

  async function ended(): Promise<number> {
    const where = "target_service_name = 'backlog' and target_handler_name = 'run' and status = 'completed'"
    const [row] = await server.query(`select count(*) as n from sys_invocation where ${where}`)
    return Number(row?.n)
  }
}
