import { AlliumError } from '@allium/core'

export type Node = Awaited<ReturnType<typeof loadNode>>

/**
 * Loads the Node modules, and the library that keeps sockets from private addresses. It loads them with the first request, because
 * the pack may be imported in other runtimes. No import has a name that a bundler for other runtimes would have to resolve: the
 * library is imported as `#filtering-agent`, which is empty there.
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
    throw new AlliumError(
      'http.failed',
      'HTTP requests need the modules of Node.js, which cannot be loaded here. Run the agent on Node.js.',
      { cause },
    )
  }
}
