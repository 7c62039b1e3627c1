import type { Client } from '@modelcontextprotocol/client'

/**
 * Keeps the stream open on which a server of revision 2026-07-28 announces changes of its tools.
 *
 * @param pause waits before the stream is opened again
 * @param onReopened runs when changes may have been missed
 */
export async function subscribe(
  client: Client,
  isOpen: () => boolean,
  { timeout, pause, onReopened }: { timeout: number; pause: (ms: number) => Promise<void>; onReopened: () => void },
): Promise<void> {
  for (let failures = 0; isOpen() && failures < maxFailures; ) {
    try {
      const subscription = await client.listen({ toolsListChanged: true }, { timeout })
      if (failures > 0) onReopened()
      failures = 0
      if ((await subscription.closed) === 'local') return
    } catch {
      // It is opened again, or the next call fails, too.
    }
    failures++
    await pause(Math.min(firstPause * 2 ** failures, maxPause))
  }
}

const maxFailures = 10
const firstPause = 500
const maxPause = 30_000
