import { AlliumError } from '@allium/core'

export type Node = Awaited<ReturnType<typeof loadNode>>

/**
 * Loads what of Node is used, and the library that keeps a socket from private addresses: at the first request and not
 * before, for what imports the pack may run elsewhere.
 * @throws AlliumError `http.failed`
 */
export async function loadNode() {
  try {
    const [http, https, net, dns, zlib, stream, filtering] = await Promise.all([
      import('node:http'),
      import('node:https'),
      import('node:net'),
      import('node:dns'),
      import('node:zlib'),
      import('node:stream/promises'),
      import('request-filtering-agent'),
    ])
    return { http, https, net, dns, zlib, stream, filtering }
  } catch (cause) {
    throw new AlliumError('http.failed', 'HTTP requests need Node.js, whose modules cannot be loaded here.', { cause })
  }
}
