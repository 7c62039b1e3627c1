import { capability } from '@allium/core'

/** Provided to the layers of a run that is replayed, so that `record()` does not record it. */
export const beingReplayed = capability<true>('replay:replayed')
