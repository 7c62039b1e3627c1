import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { labOf } from './lab.mjs'
import { start } from './process.mjs'
import { workloads } from './workloads.mjs'

/**
 * Starts a side's server and warms it up. `flags` of Node may name files in the folder.
 *
 * @returns the server, a `folder` for files, `drive(times)`, which sends the requests of so many rounds and returns their number, and `end`
 */
export async function profiledServer(name, { workload, setting, node, flags = () => [], warmUp = 1000 }) {
  const folder = mkdtempSync(join(tmpdir(), 'request-'))
  const provider = await start('provider.mjs')
  const lab = labOf({ setting, node, folder, url: `http://127.0.0.1:${provider.first}` })
  const server = await lab.start(name, 'db', {}, flags(folder))
  const { sessions, requests, before } = workloads[workload]
  await lab.drive(server, `${workload}-warm`, { sessions, requests: warmUp })
  await lab.drive(server, `${workload}-profile`, { sessions, requests: before * sessions })
  return {
    ...{ server, folder },
    async drive(times) {
      await lab.drive(server, `${workload}-profile`, { sessions, requests: times * requests })
      return times * requests
    },
    async end() {
      await server.end()
      provider.kill()
      rmSync(folder, { recursive: true })
    },
  }
}
