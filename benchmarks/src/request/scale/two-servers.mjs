import { ownServer } from '../../../../packages/store-postgres/test/server.ts'
import { median } from '../../timed.mjs'
import { start } from '../process.mjs'
import { drive } from '../workloads.mjs'
import { postgresCpu } from './postgres-cpu.mjs'

const sessions = 2000
const workloads = { W1: 1000, W3: 500 }

/**
 * Measures two servers with all layers on one Postgres, with 2,000 sessions. Each server has half of the 16 clients, and the sessions
 * change servers from round to round.
 *
 * @returns {Promise<{ workload: string, perSecond: number, servers: number, postgres: number }[] | undefined>} medians: requests per
 *   second, and milliseconds of CPU per request; undefined without a Postgres for this machine
 */
export async function twoServers({ rounds, url, tell }) {
  const database = await ownServer()
  if (database === undefined) return undefined
  const servers = []
  for (let i = 0; i < 2; i++) servers.push(await start('scale/server.mjs', ['postgres', database.url, url]))
  const samples = Object.keys(workloads).map((workload) => ({ workload, found: [] }))
  for (let round = 0; round <= rounds; round++)
    for (const { workload, found } of samples) {
      tell(`round ${round} of ${rounds}: ${workload} on Postgres`)
      const sample = await sampleOf({ servers, workload, round })
      // The first round warms up.
      if (round > 0) found.push(sample)
    }
  for (const server of servers) await server.end()
  await database.end()
  const over = (found, key) => median(found.map((sample) => sample[key]))
  return samples.map(({ workload, found }) => ({
    workload,
    ...Object.fromEntries(['perSecond', 'servers', 'postgres'].map((key) => [key, over(found, key)])),
  }))
}

async function sampleOf({ servers, workload, round }) {
  const requests = workloads[workload]
  const [began, database, earlier] = [performance.now(), postgresCpu(), await cpuOf(servers)]
  await Promise.all(
    servers.map(({ first: port }, i) =>
      drive(port, `${workload}-${(i + round) % 2}`, { requests: requests / 2, sessions: sessions / 2, clients: 8 }),
    ),
  )
  return {
    perSecond: requests / ((performance.now() - began) / 1000),
    servers: ((await cpuOf(servers)) - earlier) / requests,
    postgres: (postgresCpu() - database) / requests,
  }
}

/** Milliseconds. */
async function cpuOf(servers) {
  const all = await Promise.all(servers.map(({ ask }) => ask('cpu')))
  return all.reduce((sum, { user, system }) => sum + (user + system) / 1000, 0)
}
