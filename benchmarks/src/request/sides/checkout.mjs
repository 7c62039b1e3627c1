import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Returns a function that imports a package as the benchmarks of another checkout find it. */
export function packagesOf(folder) {
  const require = requireOf(folder)
  const load = (name) => import(pathToFileURL(require.resolve(name)).href)
  return async (name) => {
    try {
      return await load(name)
    } catch (error) {
      const [main, pack] = name.split('/')
      if (error.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED' || main !== 'allium') throw error
      // Its packs were namespaces of the package before they had entries.
      return (await load(main))[pack]
    }
  }
}

/** Returns whether the benchmarks of another checkout find a package. */
export function hasPackage(folder, name) {
  try {
    return requireOf(folder).resolve(name) !== ''
  } catch {
    return false
  }
}

function requireOf(folder) {
  return createRequire(join(resolve(folder), 'benchmarks', 'package.json'))
}
