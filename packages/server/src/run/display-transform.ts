import { type DisplayTransform, type Logger, messageOf, type SessionKey } from '@allium/core'
import type { ServedAgent } from '../options.ts'

/**
 * How the owner of a session reads its stored texts: as in the stream, with the values that layers such as `guard.pii` keep from the
 * history. Where a layer cannot tell now, as they are stored.
 */
export async function displayTransformOf(
  agent: ServedAgent,
  key: SessionKey,
  logger: Logger,
): Promise<DisplayTransform> {
  try {
    return await agent.showing(key)
  } catch (error) {
    logger.warn(`Stored texts are shown as they are stored: ${messageOf(error)}`)
    return identityDisplay
  }
}

export const identityDisplay: DisplayTransform = (text) => text
