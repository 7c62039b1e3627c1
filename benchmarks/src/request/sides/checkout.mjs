import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Returns a function that imports a package as the benchmarks of another checkout find it. */
export function packagesOf(folder) {
  const require = createRequire(join(resolve(folder), 'benchmarks', 'package.json'))
  return (name) => import(pathToFileURL(require.resolve(name)).href)
}
