import { AlliumError } from '@allium/core'

export type Node = Awaited<ReturnType<typeof loadNode>>

/**
 * Loads what of Node is used, and the library that keeps a socket from private addresses: at the first request and not
 * before, for what imports the pack may run elsewhere. None of it is imported by a name that a bundler for elsewhere would
 * have to find: the library goes by `#filtering-agent`, which is empty there.
 * @throws AlliumError `http.failed`
 */
export async function loadNode() {
  try {
    const { getBuiltinModule: builtin } = globalThis.process
    const filtering = await import('#filtering-agent')
    if (filtering.RequestFilteringHttpAgent === undefined) throw new TypeError('This bundle was not made for Node.js.')
    return {
      http: builtin('node:http'),
      https: builtin('node:https'),
      net: builtin('node:net'),
      dns: builtin('node:dns'),
      zlib: builtin('node:zlib'),
      stream: builtin('node:stream/promises'),
      filtering,
    }
  } catch (cause) {
    throw new AlliumError('http.failed', 'HTTP requests need Node.js, whose modules cannot be loaded here.', { cause })
  }
}
