import { type DisplayTransform, type Logger, messageOf, type SessionKey } from '@allium/core'
import type { ServedAgent } from '../options/options.ts'

/**
 * Returns a function that transforms stored texts for the owner of a session, as in the stream: with the values that layers such as
 * `guard.pii` keep out of the history. If a layer fails, the texts stay as they are stored.
 */
export async function displayTransformOf(
  agent: ServedAgent,
  key: SessionKey,
  logger: Logger,
): Promise<DisplayTransform> {
  try {
    return await agent.displayFor(key)
  } catch (error) {
    logger.warn(`Stored texts are shown unchanged: ${messageOf(error)}`)
    return identityDisplay
  }
}

export const identityDisplay: DisplayTransform = (text) => text
