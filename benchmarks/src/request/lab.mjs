import { join } from 'node:path'
import { start } from './process.mjs'
import { sides } from './sides/index.mjs'
import { drive } from './workloads.mjs'

/**
 * The servers of a measurement, and clients for them.
 *
 * @param {{ setting: import('./settings.mjs').Setting, url: string, folder: string, node?: string }} options the provider's `url`, a `folder` for
 *   databases, and the `node` of the servers
 */
export function labOf({ setting, url, folder, node }) {
  const { ui, synchronous } = setting
  const protocol = setting.protocol()
  return {
    fileOf: (file) => join(folder, file),
    /** Starts the server of a side with a database file. */
    start(name, file, more = {}, flags = []) {
      const place = { url, file: join(folder, file), ui, synchronous, ...more }
      return start('server.mjs', [name, JSON.stringify(place)], { node, flags })
    },
    drive: (server, prefix, options) => drive(server.first, prefix, { protocol, ...options }),
  }
}

/** Whether a side has the workload. */
export const serves = (name, workload) => sides[name].workloads?.includes(workload) ?? true
